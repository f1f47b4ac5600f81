import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Command, CommanderError } from 'commander';
import { redacted } from './config/config.js';

/**
 * Runs the command that was typed. Exit code 0: done. 1: failed, with the reason on standard error. 2: wrong usage. The
 * program and its subcommands must throw (`exitOverride`).
 */
export async function runCommandLine(program: Command): Promise<void> {
  // A reader that has gone must not end the process in the middle of a change. Without listeners, Node would do that.
  let unwritten: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    unwritten = error;
    process.exitCode = 1;
  });
  process.stderr.on('error', () => undefined);
  try {
    await program.parseAsync();
    // The error of a write comes a moment later.
    await nextTurn();
    if (unwritten !== undefined)
      throw new Error(`The output cannot be written (${unwritten.code ?? 'error'}).`);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.stderr.write(`${redacted((error as Error).message)}\n`);
      process.exitCode = 1;
    }
  }
}

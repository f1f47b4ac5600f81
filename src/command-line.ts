import { type Command, CommanderError } from 'commander';
import { redacted } from './config/config.js';

/**
 * Runs the command that was typed. Exit code 0: done. 1: failed, with the reason on standard error. 2: wrong usage. The
 * program and its subcommands must throw (`exitOverride`).
 */
export async function runCommandLine(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.stderr.write(`${redacted((error as Error).message)}\n`);
      process.exitCode = 1;
    }
  }
}

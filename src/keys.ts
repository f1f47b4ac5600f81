import 'reflect-metadata';
import { CommanderError } from 'commander';
import { keysProgram } from './auth/cli/keys-program.js';
import { withKeysOf } from './auth/cli/open-keys.js';
import { loadConfig } from './config/config.js';

// An embedded server that was started for this command must be stopped by it, so an interrupt waits.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

/** `npm run keys`. Exit code 0: done; 1: not done, and why on standard error; 2: wrong usage. */
const program = keysProgram(async (work) => {
  process.stdout.write(`${await withKeysOf(loadConfig(), work)}\n`);
}).exitOverride();
for (const command of program.commands) command.copyInheritedSettings(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

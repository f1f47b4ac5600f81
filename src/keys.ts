import 'reflect-metadata';
import { CommanderError } from 'commander';
import { keysProgram, type WithKeys } from './auth/cli/keys-program.js';
import { openDatabase } from './auth/cli/open-database.js';
import { KeyStore } from './auth/key-store.js';
import { ApiKey } from './auth/api-key.entity.js';
import { loadConfig } from './config/config.js';

/** `npm run keys`. Exit code 0: done; 1: not done, and why on standard error; 2: wrong usage. */
const withKeys: WithKeys = async (work) => {
  const { dataSource, close } = await openDatabase(loadConfig());
  try {
    process.stdout.write(`${await work(new KeyStore(dataSource.getRepository(ApiKey)))}\n`);
  } finally {
    await close();
  }
};

// An embedded server that was started for this command must be stopped by it, so an interrupt waits.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

const program = keysProgram(withKeys).exitOverride();
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

import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { ApiKey } from './auth/api-key.entity.js';
import { keysProgram } from './auth/cli/keys-program.js';
import { KeysService } from './auth/keys.service.js';
import { type Config, loadConfig } from './config/config.js';
import { createDataSource } from './database/data-source.js';
import { migrate } from './database/migrate.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';

// An embedded server that was started for this command must be stopped by it, so an interrupt waits.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

/** `npm run keys`. Exit code 0: done; 1: not done, and why on standard error; 2: wrong usage. */
const program = keysProgram((work) =>
  withKeysOf(loadConfig(), async (keys) => {
    // Before the database is closed, which may fail: a new key is shown only once.
    process.stdout.write(`${await work(keys)}\n`);
  }),
).exitOverride();
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

/**
 * Works on the keys in the database that the service uses: DATABASE_URL, or the embedded one. A running service holds
 * that one and wrote down where it is; without a service the server is started for as long as it is needed.
 */
async function withKeysOf<T>(config: Config, work: (keys: KeysService) => Promise<T>): Promise<T> {
  const running = config.databaseUrl ?? (await urlOfRunningServer(config.dataDir));
  const embedded = running === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let dataSource: DataSource | undefined;
  try {
    const url = running ?? (await embedded!.start());
    await migrate(config.databaseDirectUrl ?? url);
    dataSource = await createDataSource({ url, poolSize: 1, entities: [ApiKey] }).initialize();
    return await work(new KeysService(dataSource.getRepository(ApiKey), config));
  } finally {
    await dataSource?.destroy();
    await embedded?.stop();
  }
}

/** The file may have outlived the server, and the port may be another program's by now. */
async function urlOfRunningServer(dataDir: string): Promise<string | undefined> {
  let client: pg.Client | undefined;
  try {
    const url = readFileSync(join(dataDir, 'database-url'), 'utf8').trim();
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    return url;
  } catch {
    return undefined;
  } finally {
    await client?.end().catch(() => undefined);
  }
}

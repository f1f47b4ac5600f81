import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from './config/config.js';
import { createDataSource } from './database/data-source.js';
import { migrate } from './database/migrate.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';

// An embedded server that was started for this command must be stopped by it, so an interrupt waits.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

/**
 * Works on the database that the service uses, for a command: DATABASE_URL, or the embedded one. A running service holds
 * that one and wrote down where it is; without a service the server is started for as long as it is needed.
 */
export async function withDatabase<T>(
  config: Config,
  entities: (new () => object)[],
  work: (rows: DataSource) => T | Promise<T>,
): Promise<T> {
  const running = config.databaseUrl ?? (await urlOfRunningServer(config.dataDir));
  const embedded = running === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let dataSource: DataSource | undefined;
  try {
    const url = running ?? (await embedded!.start());
    await migrate(config.databaseDirectUrl ?? url);
    dataSource = await createDataSource({ url, poolSize: 1, entities }).initialize();
    return await work(dataSource);
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

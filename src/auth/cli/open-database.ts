import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from '../../config/config.js';
import { createDataSource } from '../../database/data-source.js';
import { EmbeddedPostgres } from '../../embedded-postgres/embedded-postgres.js';
import { migrate } from '../../database/migrate.js';
import { ApiKey } from '../api-key.entity.js';

export interface OpenDatabase {
  dataSource: DataSource;
  /** Disconnects, and stops the embedded server if it was started for this. */
  close(): Promise<void>;
}

/**
 * The database that the service uses: DATABASE_URL, or the embedded one. A running service holds that one
 * and wrote down where it is; without a service the server is started for as long as it is needed.
 */
export async function openDatabase(config: Config): Promise<OpenDatabase> {
  const running = config.databaseUrl ?? (await urlOfRunningServer(config.dataDir));
  const embedded = running === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let dataSource: DataSource | undefined;
  const close = async (): Promise<void> => {
    await dataSource?.destroy();
    await embedded?.stop();
  };
  try {
    const url = running ?? (await embedded!.start());
    await migrate(config.databaseDirectUrl ?? url);
    dataSource = await createDataSource({ url, poolSize: 1, entities: [ApiKey] }).initialize();
    return { dataSource, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** The file may have outlived the server, and the port may be another program's by now. */
async function urlOfRunningServer(dataDir: string): Promise<string | undefined> {
  let url: string;
  try {
    url = readFileSync(join(dataDir, 'database-url'), 'utf8').trim();
  } catch {
    return undefined;
  }
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return url;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

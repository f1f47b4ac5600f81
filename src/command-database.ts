import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from './config/config.js';
import { createDataSource } from './database/data-source.js';
import { migrate } from './database/migrate.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { exitNow, onStopSignals } from './tools/stop-signals.js';

// An embedded server that was started for this command must be stopped by it: what is begun is undone, and a change that
// is in progress completes.
const start = new AbortController();
const interrupted = new Error('Interrupted before anything was changed.');
onStopSignals(() => start.abort(interrupted), exitNow);

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
    const url = running ?? (await embedded!.start(start.signal));
    const report = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
    await migrate(config.databaseDirectUrl ?? url, { signal: start.signal, report });
    dataSource = await createDataSource({ url, poolSize: 1, entities }).initialize();
    start.signal.throwIfAborted();
    return await work(dataSource);
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? interrupted : error;
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

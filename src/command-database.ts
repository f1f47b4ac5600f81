import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from './config/config.js';
import { clock } from './database/clock.js';
import { createDataSource } from './database/data-source.js';
import { openDatabase } from './database/open-database.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { exitNow, onStopSignals } from './tools/stop-signals.js';

// A command must stop an embedded server that it started. An interrupted start is undone, and a change in progress
// completes. Work that only reads may heed the signal.
const start = new AbortController();
const interrupted = new Error('Interrupted before anything was changed.');
onStopSignals(() => start.abort(interrupted), exitNow);

/**
 * Connects a command to the service's database: DATABASE_URL, or the embedded one. A running service owns the embedded
 * server and writes its address to a file. Without a running service, the command starts the server and stops it again.
 */
export async function withDatabase<T>(
  config: Config,
  entities: (new () => object)[],
  work: (rows: DataSource, signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const running = config.databaseUrl ?? (await urlOfRunningServer(config.dataDir));
  const embedded = running === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let dataSource: DataSource | undefined;
  try {
    const url = running ?? (await embedded!.start(start.signal));
    const report = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
    const { pooled } = await openDatabase(url, config.databaseDirectUrl, {
      signal: start.signal,
      report,
      // A person waits for the answer of a command.
      waitMs: 0,
    });
    dataSource = await createDataSource({ url: pooled.usual(), poolSize: 1, entities }).initialize();
    await setClock(dataSource);
    start.signal.throwIfAborted();
    return await work(dataSource, start.signal);
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? interrupted : error;
  } finally {
    await dataSource?.destroy();
    await embedded?.stop();
  }
}

async function setClock(dataSource: DataSource): Promise<void> {
  const sentAt = performance.now();
  const [row] = await dataSource.query<{ ms: number }[]>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  clock.set(row!.ms, (sentAt + performance.now()) / 2);
}

/** The file may be older than the server, and another program may use the port by now. */
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

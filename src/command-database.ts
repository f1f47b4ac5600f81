import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from './config/config.js';
import { clock } from './database/clock.js';
import { createDataSource } from './database/data-source.js';
import { openDatabase } from './database/open-database.js';
import type { ReachOptions } from './database/reach.js';
import { EmbeddedPostgres, ServerInUse } from './embedded-postgres/embedded-postgres.js';
import { exitNow, exitWithoutTerminal, onStopSignals } from './tools/stop-signals.js';

// A command must stop an embedded server that it started. An interrupted start is undone, and a change in progress
// completes. Work that only reads may heed the signal.
const start = new AbortController();
const interrupted = new Error('Interrupted before anything was changed.');
const signals = onStopSignals(() => start.abort(interrupted), exitNow);
const terminals = [0, 1, 2].filter(isatty);
process.on('SIGHUP', () => {
  if (!terminals.every(isatty)) exitWithoutTerminal();
  signals.receive('SIGHUP');
});

/**
 * Connects a command to the service's database, whose schema is that of this release or a newer one. `entities`: of the
 * repositories that the work needs.
 */
export function withDatabase<T>(
  config: Config,
  entities: (new () => object)[],
  work: (rows: DataSource, signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  return withServer(config, async (serverUrl, options) => {
    const { pooled } = await openDatabase(serverUrl, config.databaseDirectUrl, {
      ...options,
      isAllowed: config.migrate,
    });
    const rows = await createDataSource({ url: pooled.usual(), poolSize: 1, entities }).initialize();
    try {
      await setClock(rows);
      options.signal.throwIfAborted();
      return await work(rows, options.signal);
    } finally {
      await rows.destroy();
    }
  });
}

const report = (sentence: string): void => void process.stderr.write(`${sentence}\n`);

export interface CommandOptions extends ReachOptions {
  signal: AbortSignal;
  report: (sentence: string) => void;
}

/**
 * Gives a command the URL of the service's PostgreSQL: DATABASE_URL, or the embedded one. A running service owns the
 * embedded server and writes its address to a file. Without a running service, the command starts the server and stops
 * it again.
 */
export async function withServer<T>(
  config: Config,
  work: (url: string, options: CommandOptions) => Promise<T>,
): Promise<T> {
  const running = config.databaseUrl ?? (await urlOfRunningServer(config.dataDir));
  const embedded = running === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  try {
    return await work(running ?? (await startOrFind(embedded!, config.dataDir)), {
      signal: start.signal,
      report,
      // A person waits for the answer of a command.
      waitMs: 0,
    });
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? interrupted : error;
  } finally {
    await embedded?.stop();
  }
}

/** A service that began its start shortly before this command owns the server by now, and has written its address. */
async function startOrFind(embedded: EmbeddedPostgres, dataDir: string): Promise<string> {
  try {
    return await embedded.start({ signal: start.signal, report });
  } catch (error) {
    const running = error instanceof ServerInUse ? await urlOfRunningServer(dataDir) : undefined;
    if (running === undefined) throw error;
    return running;
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

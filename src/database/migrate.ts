import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { commandOf } from '../config/package.js';
import { createDataSource } from './data-source.js';
import { insufficientPrivilege, orAborted } from './reach.js';
import { countOf, readSchemaState, type SchemaState } from './schema-state.js';
import type { DatabaseSessions } from './sessions.js';

const migrationLock = 0x6d696772;
const retryMs = 200;
const firstReportMs = 1_000;
const reportEveryMs = 15_000;

export interface MigrateOptions {
  /** False: a schema that lacks a migration is refused. Default: true. */
  isAllowed?: boolean;
  /** Ends the wait, or rolls back the migration in progress. */
  signal?: AbortSignal;
  /** Receives a sentence that names what the start waits for, and one about a schema of a newer release. */
  report?: (sentence: string) => void;
  /** Receives the name of each migration that was applied. */
  onApplied?: (name: string) => void;
  /** How long another session may keep the lock. */
  patienceMs?: number;
}

/**
 * Brings the schema up to date. Any number of processes may start at once: one migrates, the others wait. Each
 * migration is one transaction that holds the lock, so the lock never outlives it. This also works through a pooler
 * that assigns a connection per transaction. A schema of a newer release is served as it is.
 */
export async function migrate(
  sessions: DatabaseSessions,
  { isAllowed = true, signal, report, onApplied, patienceMs = 120_000 }: MigrateOptions = {},
): Promise<void> {
  const state = await orAborted(readSchemaState(sessions), signal);
  if (state.newer.length > 0) report?.(newerSchema(state));
  if (state.open.length === 0) return;
  if (!isAllowed) throw new Error(missingMigrations(state));
  const dataSource = await createDataSource({ url: sessions.usual(), poolSize: 2 }).initialize();
  const runner = dataSource.createQueryRunner();
  try {
    const executor = new MigrationExecutor(dataSource, runner);
    const lock = new MigrationLock(runner, { signal, report, patienceMs });
    let name: string | undefined;
    while ((name = await migrateNext(executor, lock, dataSource, signal)) !== undefined) onApplied?.(name);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

const newerSchema = ({ database, newer }: SchemaState): string =>
  `The database at ${database} has ${countOf(newer)} of a newer release (${newer.join(', ')}). ` +
  'This release serves on that schema if the other is the next minor release: see docs/upgrading.md.';

const missingMigrations = ({ database, open }: SchemaState): string =>
  `The database at ${database} lacks ${countOf(open)} of this release: ${open.map(({ name }) => name).join(', ')}. ` +
  `MIGRATE=off leaves them to you. Run \`${commandOf('migrate')}\` as the owner of the tables, and start again. ` +
  'Nothing was changed.';

/** Runs the next migration and returns its name. undefined: there was none. */
async function migrateNext(
  executor: MigrationExecutor,
  lock: MigrationLock,
  dataSource: DataSource,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { runner, pid } = await lock.take();
  const cancel = (): void =>
    void dataSource.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => undefined);
  signal?.addEventListener('abort', cancel);
  let name = '';
  try {
    const [next] = await executor.getPendingMigrations();
    if (next !== undefined) {
      name = next.name;
      await executor.executeMigration(next);
    }
    await runner.commitTransaction();
    return next?.name;
  } catch (cause) {
    await runner.rollbackTransaction().catch(() => undefined);
    signal?.throwIfAborted();
    const { code } = cause as NodeJS.ErrnoException;
    if (code === insufficientPrivilege) {
      throw new Error(
        `The migration ${name} changes what this role does not own. Migrate as the owner of the tables: run ` +
          `\`${commandOf('migrate', '--grants <file>')}\` with the DATABASE_URL of nowserving_owner. The file is ` +
          'deploy/postgres/grants.sql in the source of this release; images lack it. This migration has changed nothing.',
        { cause },
      );
    }
    if (code !== lockNotAvailable) throw cause;
    throw new Error(
      `The migration ${name} could not lock its table, because another session has used it for too long. ` +
        'Nothing was changed. Start again; if it fails again, look in pg_stat_activity for old transactions.',
      { cause },
    );
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** SQLSTATE of a statement that waited longer than `lock_timeout`. */
const lockNotAvailable = '55P03';

interface Holder {
  pid: number;
  application_name: string | null;
  client: string | null;
  state: string | null;
  since: string | null;
}

const findHolders = `
SELECT pid, application_name, coalesce(client_addr::text, 'the same machine') AS client, state,
       to_char(coalesce(xact_start, state_change, backend_start) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') AS since
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = $1 AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * A lock held by a transaction, never by a session. A pooler keeps a session and its locks, and gives both to the next
 * client.
 */
class MigrationLock {
  constructor(
    private readonly runner: QueryRunner,
    private readonly options: MigrateOptions & { patienceMs: number },
  ) {}

  /** Begins a transaction that has the lock. `pid`: the server process of this transaction, even behind a pooler. */
  async take(): Promise<{ runner: QueryRunner; pid: number }> {
    const { runner } = this;
    const { signal, report, patienceMs } = this.options;
    const beganAt = performance.now();
    let reportAt = beganAt + firstReportMs;
    for (;;) {
      signal?.throwIfAborted();
      await runner.startTransaction();
      // A migration has no time limit, whatever was set earlier on a pooler's connection.
      await runner.query('SET LOCAL statement_timeout = 0');
      const [row] = (await runner.query(
        'SELECT pg_try_advisory_xact_lock($1) AS taken, pg_backend_pid() AS pid',
        [migrationLock],
      )) as [{ taken: boolean; pid: number }];
      if (row.taken) return { runner, pid: row.pid };
      const holders = (await runner.query(findHolders, [migrationLock])) as Holder[];
      await runner.rollbackTransaction();
      const now = performance.now();
      if (now - beganAt > patienceMs) throw tooLong(holders, patienceMs);
      if (now > reportAt) {
        reportAt = now + reportEveryMs;
        report?.(
          `Waiting for another session to migrate the database: ${holders.map(describeHolder).join(', ')}.`,
        );
      }
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

function describeHolder({ pid, application_name: name, client, state, since }: Holder): string {
  return `process ${pid} of PostgreSQL (${name || 'no name'}, from ${client}, ${state ?? 'state unknown'} since ${since})`;
}

function tooLong(holders: readonly Holder[], patienceMs: number): Error {
  const ends = holders.map(({ pid }) => `SELECT pg_terminate_backend(${pid})`).join('; ');
  return new Error(
    `Another session has held the migration lock for ${Math.round(patienceMs / 1_000)} s: ` +
      `${holders.map(describeHolder).join(', ')}. If a node is migrating, wait until it is done and start again. ` +
      `If none is, a connection pooler has kept the lock: end that session with ${ends}`,
  );
}

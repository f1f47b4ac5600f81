import type pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrations } from './data-source.js';
import { describeDatabase } from './describe-database.js';
import { connect } from './reach.js';
import type { DatabaseSessions } from './sessions.js';

export type Migration = new () => MigrationInterface;

/** The migrations of this release and of the database, by the names that the table `migrations` has. */
export interface SchemaState {
  /** `host/database`. */
  database: string;
  applied: string[];
  /** The migrations of this release that the database lacks, in their order. */
  open: Migration[];
  /** The migrations in the database that this release does not know, because a newer one has migrated it. */
  newer: string[];
}

/** Reads without the lock of the migrations. Most starts find nothing to do and need not wait. */
export async function readSchemaState(sessions: DatabaseSessions): Promise<SchemaState> {
  const url = sessions.usual();
  const client = await connect(url);
  try {
    const rows = await readMigrations(client);
    refuseUnreleased(rows, url);
    const done = new Set(rows.map(({ name }) => name));
    const known = new Set(migrations.map(({ name }) => name));
    return {
      database: describeDatabase(url),
      applied: migrations.map(({ name }) => name).filter((name) => done.has(name)),
      open: migrations.filter(({ name }) => !done.has(name)),
      newer: rows.map(({ name }) => name).filter((name) => !known.has(name)),
    };
  } finally {
    await client.end();
  }
}

interface MigrationRow {
  name: string;
  timestamp: number;
}

async function readMigrations(client: pg.Client): Promise<MigrationRow[]> {
  const begun = await client.query(`SELECT WHERE to_regclass('migrations') IS NOT NULL`);
  if (begun.rowCount === 0) return [];
  const { rows } = await client.query<MigrationRow>(
    'SELECT name, timestamp::float8 AS timestamp FROM migrations ORDER BY id',
  );
  return rows;
}

/** The migrations were rewritten before the first release. A database made by the old ones cannot be upgraded. */
function refuseUnreleased(done: readonly MigrationRow[], url: string): void {
  const names = new Set(migrations.map(({ name }) => name));
  const newest = Number(migrations.at(-1)!.name.slice(-13));
  if (done.every(({ name, timestamp }) => names.has(name) || timestamp > newest)) return;
  throw new Error(
    `The database at ${describeDatabase(url)} is of an unreleased earlier version and cannot be upgraded. ` +
      'Use a new database, or delete DATA_DIR if it is the embedded one. Nothing was changed.',
  );
}

/** Returns the SQL of a migration, recorded without running it. */
export async function sqlOf(Migration: Migration): Promise<string> {
  const statements: string[] = [];
  const recorder = { query: async (sql: string) => void statements.push(sql) } as unknown as QueryRunner;
  await new Migration().up(recorder);
  return statements.map((sql) => `${sql.trim()};\n`).join('\n');
}

/** How a message counts migrations: `1 migration`, `2 migrations`. */
export const countOf = ({ length }: readonly unknown[]): string =>
  `${length} ${length === 1 ? 'migration' : 'migrations'}`;

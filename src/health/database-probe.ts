import { Injectable } from '@nestjs/common';
import { migrations } from '../database/data-source.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/statement.js';

const readMigrations: Statement = { name: 'read_migrations', text: 'SELECT name FROM migrations' };

/** A probe that takes longer counts as lost. */
const patienceMs = 2_000;
/** However often it is asked for, the database is probed no more often than this. */
const freshMs = 500;

export interface DatabaseState {
  reached: boolean;
  migrated: boolean;
}

const lost: DatabaseState = { reached: false, migrated: false };

/** Whether the database answers in time and has our schema. Probes never pile up behind one that hangs. */
@Injectable()
export class DatabaseProbe {
  private running: Promise<DatabaseState> | undefined;
  private last: { state: DatabaseState; at: number } | undefined;

  constructor(private readonly database: Database) {}

  async state(): Promise<DatabaseState> {
    if (this.last !== undefined && performance.now() - this.last.at < freshMs) return this.last.state;
    this.running ??= this.probe().finally(() => (this.running = undefined));
    const state = await inTime(this.running);
    this.last = { state, at: performance.now() };
    return state;
  }

  private async probe(): Promise<DatabaseState> {
    try {
      const rows = await this.database.query<{ name: string }>(readMigrations);
      const done = new Set(rows.map(({ name }) => name));
      return { reached: true, migrated: migrations.every((migration) => done.has(migration.name)) };
    } catch {
      return lost;
    }
  }
}

async function inTime(probing: Promise<DatabaseState>): Promise<DatabaseState> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<DatabaseState>((resolve) => {
    timer = setTimeout(resolve, patienceMs, lost);
  });
  return Promise.race([probing, late]).finally(() => clearTimeout(timer));
}

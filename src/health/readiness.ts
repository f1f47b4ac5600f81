import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { migrations } from '../database/data-source.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/statement.js';
import { DomainError } from '../errors/domain-error.js';
import { DatabaseDisk } from '../files/database-disk.js';
import { FilePlace } from '../files/file-place.js';
import { Draining } from '../http/draining.js';
import { Cluster } from '../queue/cluster/cluster.js';
import type { ReadinessChecksDto, ReadinessDto } from './health.dto.js';

const readMigrations: Statement = { name: 'read_migrations', text: 'SELECT name FROM migrations' };

/** A check of the database that takes longer counts as failed. */
const patienceMs = 2_000;
/** The database is checked at most once in this time, however often readiness is requested. */
const freshMs = 500;

type DatabaseChecks = Omit<ReadinessChecksDto, 'accepting'>;

const lost: DatabaseChecks = {
  database: { status: 'down' },
  migrations: { status: 'down' },
  files: { status: 'down' },
  storage: { status: 'down' },
};

const unreached =
  'The database does not answer within 2 s, so the other checks are unknown. Check that PostgreSQL runs and can be ' +
  'reached at DATABASE_URL. Accepted requests are not lost.';

/**
 * Knows whether this node can take requests: the database answers in time, its schema and its files are the service's,
 * and the node is not shutting down.
 */
@Injectable()
export class Readiness {
  /** Only one check runs at a time, even if it hangs. */
  private looking: Promise<DatabaseChecks> | undefined;
  private last: { checks: DatabaseChecks; at: number } | undefined;
  private fileFault: string | undefined;
  private storageFault: string | undefined;
  private shortage: string | undefined;

  constructor(
    private readonly database: Database,
    private readonly draining: Draining,
    private readonly files: FilePlace,
    private readonly disk: DatabaseDisk,
    private readonly cluster: Cluster,
  ) {}

  async check(): Promise<ReadinessDto> {
    const database = await this.databaseChecks();
    const checks = { ...database, accepting: { status: this.draining.isLeaving ? 'down' : 'up' } };
    // Without the database the other checks are unknown, so the message names only the database.
    const known = database === lost ? { database: lost.database, accepting: checks.accepting } : checks;
    const down = Object.entries(known).filter(([, { status }]) => status !== 'up');
    const notes = [...this.notes(), ...(this.shortage === undefined ? [] : [this.shortage])];
    if (down.length === 0) return { status: 'ok', checks, ...(notes.length > 0 && { notes }) };
    const names = down.map(([name]) => name).join(', ');
    const why = [database === lost ? unreached : undefined, this.fileFault, this.storageFault].filter(
      (fault) => fault !== undefined,
    );
    throw new DomainError('unavailable', [`Not ready: ${names}.`, ...why].join(' '), {
      extensions: { checks },
    });
  }

  /** Returns what keeps accepted requests waiting. */
  private notes(): string[] {
    if (this.cluster.schedulers.length > 0) return [];
    return [
      'No node runs requests, so they wait. Start one with ROLE=all or ROLE=scheduler, or end a drain.',
    ];
  }

  private async databaseChecks(): Promise<DatabaseChecks> {
    if (this.last !== undefined && performance.now() - this.last.at < freshMs) return this.last.checks;
    this.looking ??= this.look().finally(() => (this.looking = undefined));
    const checks = await Promise.race([this.looking, delay(patienceMs, lost, { ref: false })]);
    this.last = { checks, at: performance.now() };
    return checks;
  }

  private async look(): Promise<DatabaseChecks> {
    try {
      const rows = await this.database.query<{ name: string }>(readMigrations);
      const done = new Set(rows.map(({ name }) => name));
      const isMigrated = migrations.every((migration) => done.has(migration.name));
      this.storageFault = await this.disk.fault();
      this.shortage = this.storageFault === undefined ? await this.disk.shortage() : undefined;
      this.fileFault = isMigrated ? await this.files.fault() : undefined;
      return {
        database: { status: 'up' },
        migrations: { status: isMigrated ? 'up' : 'down' },
        files: { status: this.fileFault === undefined ? 'up' : 'down' },
        storage: { status: this.storageFault === undefined ? 'up' : 'down' },
      };
    } catch {
      this.fileFault = this.storageFault = this.shortage = undefined;
      return lost;
    }
  }
}

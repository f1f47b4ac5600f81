import { Injectable } from '@nestjs/common';
import { migrations } from '../database/data-source.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/statement.js';
import { DatabaseUnavailable } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import { DatabaseDisk } from '../files/database-disk.js';
import { FilePlace } from '../files/file-place.js';
import { Draining } from '../http/draining.js';
import { Cluster } from '../queue/cluster/cluster.js';
import { within } from '../tools/within.js';
import type { ReadinessCheckDto, ReadinessChecksDto, ReadinessDto } from './health.dto.js';

const readMigrations: Statement = { name: 'read_migrations', text: 'SELECT name FROM migrations' };

/** A check that takes longer counts as failed. */
const patienceMs = 2_000;
/** The checks run at most once in this time, however often readiness is requested. */
const freshMs = 500;

/** The result of all checks but the last, which needs no look. */
interface Found {
  checks: Omit<ReadinessChecksDto, 'accepting'>;
  /** Without the database the other checks are unknown. */
  isCutOff: boolean;
  /** Why checks failed, as sentences. */
  faults: readonly string[];
  /** What prevents no requests, as sentences. */
  notes: readonly string[];
}

const unreachable = 'Check that PostgreSQL runs and can be reached at DATABASE_URL.';
const lateDatabase = `The database does not answer within 2 s. ${unreachable}`;
const lateDisk = 'The disk of the database does not answer within 2 s. The operator has to check it.';
const lateFiles =
  'The disk of DATA_DIR does not answer within 2 s, so files can be neither stored nor read. The operator has to ' +
  'check it.';

/**
 * Knows whether this node can take requests: the database answers in time, its schema and its files are the service's,
 * and the node is not shutting down.
 */
@Injectable()
export class Readiness {
  private looking: Promise<Found> | undefined;
  private last: { found: Found; at: number } | undefined;
  private readonly ofDatabase = new BoundedCheck(() => this.lookAtDatabase());
  private readonly ofStorage = new BoundedCheck(async () => ({ fault: await this.disk.fault() }));
  private readonly ofFiles = new BoundedCheck((place: string | undefined) => this.lookAtFiles(place));

  constructor(
    private readonly database: Database,
    private readonly draining: Draining,
    private readonly files: FilePlace,
    private readonly disk: DatabaseDisk,
    private readonly cluster: Cluster,
  ) {}

  async check(): Promise<ReadinessDto> {
    const found = await this.recent();
    const checks = { ...found.checks, accepting: resultOf(!this.draining.isLeaving) };
    const { database, accepting } = checks;
    const known = found.isCutOff ? { database, accepting } : checks;
    const down = Object.entries(known).filter(([, { status }]) => status !== 'up');
    const notes = [...this.notes(), ...found.notes];
    if (down.length === 0) return { status: 'ok', checks, ...(notes.length > 0 && { notes }) };
    const names = down.map(([name]) => name).join(', ');
    throw new DomainError('unavailable', [`Not ready: ${names}.`, ...found.faults].join(' '), {
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

  private async recent(): Promise<Found> {
    if (this.last !== undefined && performance.now() - this.last.at < freshMs) return this.last.found;
    this.looking ??= this.look().finally(() => (this.looking = undefined));
    const found = await this.looking;
    this.last = { found, at: performance.now() };
    return found;
  }

  private async look(): Promise<Found> {
    try {
      const database = await this.ofDatabase.result();
      if (database === undefined) return cutOff(lateDatabase);
      // They come after the database, so that a slow one does not make them late.
      const [storage, files] = await Promise.all([
        this.ofStorage.result(),
        this.ofFiles.result(database.place),
      ]);
      const { fault: storageFault } = storage ?? { fault: lateDisk };
      const { fault: fileFault, shortage } = files ?? { fault: lateFiles, shortage: undefined };
      return {
        checks: {
          database: resultOf(true),
          migrations: resultOf(database.isMigrated),
          files: resultOf(fileFault === undefined),
          storage: resultOf(storageFault === undefined),
        },
        isCutOff: false,
        faults: [fileFault, storageFault].filter((fault) => fault !== undefined),
        notes: shortage === undefined ? [] : [shortage],
      };
    } catch (error) {
      // Only statements throw: those of the first check, and the one that tries whether the disk takes writes.
      return cutOff(databaseFault(error));
    }
  }

  private async lookAtDatabase(): Promise<{ isMigrated: boolean; place: string | undefined }> {
    const rows = await this.database.query<{ name: string }>(readMigrations);
    const done = new Set(rows.map(({ name }) => name));
    const isMigrated = migrations.every((migration) => done.has(migration.name));
    return { isMigrated, place: isMigrated ? await this.files.placeOfFiles() : undefined };
  }

  private async lookAtFiles(place: string | undefined): Promise<{ fault?: string; shortage?: string }> {
    return { fault: await this.files.faultAt(place), shortage: await this.disk.shortage() };
  }
}

/** A check that counts as failed after 2 s. It runs once at a time, even if it hangs. */
class BoundedCheck<Values extends unknown[], Result extends object> {
  private running: Promise<Result> | undefined;

  constructor(private readonly run: (...values: Values) => Promise<Result>) {}

  /** undefined: it takes longer. */
  result(...values: Values): Promise<Result | undefined> {
    this.running ??= this.run(...values).finally(() => (this.running = undefined));
    return within(patienceMs, this.running, undefined);
  }
}

const resultOf = (isUp: boolean): ReadinessCheckDto => ({ status: isUp ? 'up' : 'down' });

/** The text of an unknown error is not shown, because it may name users and hosts. */
function databaseFault(error: unknown): string {
  if (error instanceof DatabaseUnavailable)
    return error.fault === 'away' ? `${error.message} ${unreachable}` : error.message;
  const { code = 'without a code' } = error as { code?: string };
  return `The database refuses the statements of this node (${code}). The log of PostgreSQL has the reason.`;
}

function cutOff(fault: string): Found {
  const down = resultOf(false);
  return {
    checks: { database: down, migrations: down, files: down, storage: down },
    isCutOff: true,
    faults: [fault, 'The other checks are unknown. Accepted requests are not lost.'],
    notes: [],
  };
}

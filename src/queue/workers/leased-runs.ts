import { Injectable } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { Batcher } from '../../tools/batcher.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import {
  findLeases,
  type LeasedRun,
  type LeaseName,
  renewLeases,
  type UnreadRun,
} from './queries/worker-leases.js';

/** At most this many runs are kept in memory; the others are read again. */
const maxKnown = 10_000;
/** Longer than a claim may be in progress, and than a lease lasts that no worker has renewed. */
const unknownMs = 20_000;

type Known = Omit<LeasedRun, 'input'>;

/** The runs of workers whose calls come to this node. The database decides whether a run has its lease. */
@Injectable()
export class LeasedRuns {
  private readonly known = new BoundedCache<Known>(maxKnown);
  private readonly reads: Batcher<LeaseName, LeasedRun | undefined>;
  private readonly renewals: Batcher<LeaseName, { cancel: boolean } | undefined>;
  private readonly unknown = new Map<string, { run: UnreadRun; until: number }>();

  constructor(
    database: Database,
    private readonly clock: Clock,
  ) {
    const options = { maxItems: 500, writers: 2, itemsBehind: 8 };
    this.reads = new Batcher(async (leases) => {
      const rows = new Map((await findLeases(database, leases)).map((row) => [row.id, row]));
      return leases.map(({ id, token }) => (rows.get(id)?.token === token ? rows.get(id) : undefined));
    }, options);
    this.renewals = new Batcher(async (leases) => {
      // By token: a worker that has lost its lease may beat together with the one that has the run now.
      const rows = new Map((await renewLeases(database, leases)).map((row) => [row.token, row]));
      return leases.map(({ token }) => rows.get(token));
    }, options);
  }

  remember(leased: LeasedRun): Known {
    // Inputs are large, and asked for once.
    const run = { ...leased, input: null };
    this.known.set(run.token, run, performance.now() + this.remainingMs(run));
    return run;
  }

  /** Returns the milliseconds until the run ends in any case. */
  remainingMs({ deadlineAtMs }: Pick<LeasedRun, 'deadlineAtMs'>): number {
    return Math.max(0, Math.floor(deadlineAtMs - this.clock.now()));
  }

  forget({ token }: LeaseName): void {
    this.known.delete(token);
  }

  /** undefined: the lease is lost, or was never there. */
  async find(lease: LeaseName): Promise<Known | undefined> {
    const known = this.known.get(lease.token, performance.now());
    if (known?.id === lease.id && known.keyId === lease.keyId) return known;
    const read = await this.reads.add(lease);
    if (read === undefined) return undefined;
    return this.remember(read);
  }

  /** Returns whether the run is to stop; undefined: its lease is lost. */
  async renew(lease: LeaseName): Promise<{ cancel: boolean } | undefined> {
    const renewed = await this.renewals.add(lease);
    if (renewed === undefined) this.forget(lease);
    return renewed;
  }

  /**
   * Notes runs that are to be given back: their claim may have been committed though its answer was lost, or they could
   * not be given back before.
   */
  noteUnknown(runs: readonly UnreadRun[]): void {
    const until = performance.now() + unknownMs;
    for (const { token, handed } of runs) this.unknown.set(token, { run: { token, handed }, until });
  }

  /** Runs that no worker has, as far as this node knows. Some may have no lease. */
  get unknownRuns(): UnreadRun[] {
    const now = performance.now();
    for (const [token, { until }] of this.unknown) if (until < now) this.unknown.delete(token);
    return [...this.unknown.values()].map(({ run }) => run);
  }
}

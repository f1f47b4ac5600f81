import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Clock } from '../../database/clock.js';
import { DomainError } from '../../errors/domain-error.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import type { Appended, EventBatch } from '../runs/queries/append-events.js';
import type { LeaseName } from './queries/worker-leases.js';
import { EventBuffer } from '../runs/event-buffer.js';
import { RunEvents } from '../runs/run-events.js';
import { RunLog } from '../runs/run-log.js';
import { RunStore } from '../runs/run-store.js';
import type { RunLine } from '../runs/run-lines.js';
import { LeasedRuns } from './leased-runs.js';

/** The state of a run's events on this node; another node may have written since. */
interface Spoken {
  /** undefined: no batch had a log line. */
  log: RunLog | undefined;
  next: number;
}

const maxKnown = 10_000;
const knownMs = 600_000;

/** Takes the events that workers report of their runs while these are in progress. */
@Injectable()
export class WorkerEvents {
  private readonly spoken = new BoundedCache<Spoken>(maxKnown);

  constructor(
    private readonly clock: Clock,
    private readonly events: RunEvents,
    private readonly store: RunStore,
    private readonly config: Config,
    private readonly runs: LeasedRuns,
  ) {}

  /**
   * Appends the new events of those that begin at number `from`. A gap changes nothing: `next` is below `from` then.
   * undefined: the lease is lost. Throws `body_too_large` if the deltas are too large together with earlier ones.
   */
  async append(lease: LeaseName, from: number, lines: readonly RunLine[]): Promise<Appended | undefined> {
    // Checks that the token is this key's. The statement decides whether it still has its lease.
    if ((await this.runs.find(lease)) === undefined) return undefined;
    const upTo = from + lines.length;
    let at = from;
    let taken = await this.send(lease, at, lines);
    // Some of the events were reported before.
    if (taken !== undefined && taken.next > at && taken.next < upTo) {
      at = taken.next;
      taken = await this.send(lease, at, lines.slice(at - from));
    }
    return taken;
  }

  private async send(
    lease: LeaseName,
    from: number,
    lines: readonly RunLine[],
  ): Promise<Appended | undefined> {
    const { id: requestId, token } = lease;
    const log = lines.some(({ type }) => type === 'log') ? await this.logOf(lease, from) : undefined;
    const atMs = this.clock.now();
    const { maxOutputBytes } = this.config;
    const batch: EventBatch = {
      requestId,
      token,
      from,
      count: lines.length,
      maxOutputBytes,
      logs: [],
      progress: null,
      usage: null,
      deltas: [],
    };
    const buffer = new EventBuffer();
    for (const one of lines) {
      if (one.type === 'log') {
        const entry = log!.admit(one.level, one.message, one.source);
        if (entry !== undefined) batch.logs.push({ ...entry, atMs });
      } else if (one.type === 'progress') batch.progress = { value: one.value, message: one.message ?? null };
      else if (one.type === 'usage') batch.usage = JSON.stringify(one.usage);
      else if (one.type === 'delta') buffer.addDelta(one.delta);
    }
    buffer.end();
    while (buffer.hasDeltas) batch.deltas.push(...buffer.take().deltas);
    // Until it is written, it is unknown how much of the log is used.
    const known = this.spoken.get(token, performance.now());
    this.spoken.delete(token);
    const taken = await this.events.append(batch);
    if (taken?.isTooLarge === true) {
      const detail = `The deltas of a run may have ${maxOutputBytes} bytes at most.`;
      throw new DomainError('body_too_large', detail);
    }
    // A repeated batch counted its lines a second time, so the next batch reads what is used.
    if (taken?.isWritten === true) {
      const used = log ?? (known?.next === from ? known.log : undefined);
      this.spoken.set(token, { log: used, next: taken.next }, performance.now() + knownMs);
    }
    return taken;
  }

  /** Returns the log as it was before event `from`. */
  private async logOf({ id, token }: LeaseName, from: number): Promise<RunLog> {
    const known = this.spoken.get(token, performance.now());
    const log = known?.next === from ? known.log : undefined;
    return log ?? new RunLog(await this.store.readLogUsage(id));
  }
}

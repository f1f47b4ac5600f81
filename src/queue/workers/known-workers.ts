import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { DomainError } from '../../errors/domain-error.js';
import { Database } from '../../database/database.js';
import { ModelsService } from '../../models/models.service.js';
import { ModelAvailability } from '../circuits/model-availability.js';
import {
  forgetWorkers,
  notClaiming,
  restAfterMs,
  workerAwayMs,
  type Told,
  type WorkerEnds,
  type WorkerReport,
  type WorkerState,
  type WorkerWrite,
  writeWorkers,
} from './queries/workers.js';

/** The row of a worker that reports nothing new is no older than this. */
const seenAgainMs = 15_000;
/** A worker that is silent for this long is no longer this node's. */
const forgottenMs = 60_000;

/** At most this many workers of one key are known to a node. */
export const maxWorkersOfKey = 1_000;

/** Ends of a worker's runs that are not written yet; `failedAt` as `performance.now()`. */
type Ended = Omit<WorkerEnds, 'failedAgoMs'> & { failedAt: number };

/** A worker as this node knows it. */
export class KnownWorker {
  report: WorkerReport;
  told: Told = 'run';
  /** The instruction in the last answer to it. */
  answered: Told = 'run';
  failuresInRow = 0;
  /** All times as `performance.now()`. */
  restsUntil = -Infinity;
  seenAt = performance.now();
  writtenAt = -Infinity;
  /** Its claims and beats that wait. While their connections are open, the worker is present. */
  openCalls = 0;
  /** True: it has reported, to this node or to another one, that it claims nothing. */
  isIdle = false;
  /** True: something must be written before the worker is next seen. */
  isChanged = true;
  /** True: its name is kept for the history of its runs. */
  hasRun = false;
  /** Its claims that wait on this node. */
  waitingClaims = 0;
  waitingBeats = 0;
  /** Cancels that an answer to a beat has reported. They do not end the next beat's wait. */
  readonly reportedCancels = new Set<string>();

  constructor(
    readonly uid: string,
    readonly keyId: string,
    id: string,
  ) {
    this.report = { id };
  }

  /** The last time at which it was known to be present. */
  get presentAt(): number {
    return this.openCalls > 0 ? performance.now() : this.seenAt;
  }

  /** Notes a call that waits, until the returned function is called. */
  noteOpenCall(): () => void {
    this.openCalls++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.seenAt = performance.now();
      this.openCalls--;
    };
  }

  get restMs(): number {
    return Math.max(0, this.restsUntil - performance.now());
  }
}

/** The workers that call this node: kept in memory, written later and read again by the keeper. */
@Injectable()
export class KnownWorkers {
  /** Emits workers whose order has changed. */
  readonly toldChanges = new Subject<KnownWorker>();
  /** Emits when a worker that this node does not know calls it. */
  readonly arrivals = new Subject<void>();
  /** Emits when a run of a worker has failed and must be written soon. */
  readonly failures = new Subject<void>();
  private readonly ended = new Map<string, Ended>();
  private readonly known = new Map<string, KnownWorker>();
  /** The number of known workers, by key. */
  private readonly ofKeys = new Map<string, number>();
  private counts: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly availability: ModelAvailability,
  ) {}

  get size(): number {
    return this.known.size;
  }

  /** True: no node has any worker, as far as this one knows. */
  get isEmpty(): boolean {
    return this.known.size + this.counts.size === 0;
  }

  get uids(): string[] {
    return [...this.known.keys()];
  }

  /** Takes what a worker reports of itself. Throws if its key has too many others. */
  note(keyId: string, report: WorkerReport): KnownWorker {
    const worker = this.at(uidOf(keyId, report.id), keyId, report.id);
    worker.seenAt = performance.now();
    for (const [name, value] of Object.entries(report) as [keyof WorkerReport, unknown][]) {
      if (value === undefined || isSame(worker.report[name], value)) continue;
      worker.report = { ...worker.report, [name]: value };
      worker.isChanged = true;
    }
    if (report.state !== undefined) worker.isIdle = isIdle(report.state);
    if (report.models !== undefined && worker.isIdle) {
      worker.report = { ...worker.report, state: '' };
      worker.isIdle = false;
      worker.isChanged = true;
    }
    if (worker.report.models !== undefined && worker.isChanged) this.tellAvailability();
    return worker;
  }

  /** Notes that the worker was given a run. */
  noteRun(worker: KnownWorker): void {
    if (worker.hasRun) return;
    worker.hasRun = worker.isChanged = true;
  }

  of(uid: string): KnownWorker | undefined {
    return this.known.get(uid);
  }

  /** Notes how a run of the worker ended, as far as the worker is responsible. */
  noteEnd(uid: string, succeeded: boolean): void {
    const worker = this.known.get(uid);
    const ended = this.ended.get(uid);
    if (succeeded && worker?.failuresInRow === 0 && ended === undefined) return;
    if (succeeded) {
      this.ended.set(uid, { uid, succeeded, failures: 0, failedAt: 0 });
      return;
    }
    const failedAt = performance.now();
    const failures = (ended?.failures ?? 0) + 1;
    this.ended.set(uid, { uid, succeeded: ended?.succeeded ?? false, failures, failedAt });
    const restMs = restAfterMs(failures + (ended?.succeeded === true ? 0 : (worker?.failuresInRow ?? 0)));
    if (worker !== undefined && restMs > 0) worker.restsUntil = failedAt + restMs;
    this.failures.next();
  }

  /** Returns how runs have ended since the last call. */
  takeEnds(): WorkerEnds[] {
    const now = performance.now();
    const ends = [...this.ended.values()].map(({ failedAt, ...one }) => ({
      ...one,
      failedAgoMs: now - failedAt,
    }));
    this.ended.clear();
    for (const { uid, succeeded, failures } of ends) {
      const worker = this.known.get(uid);
      if (worker !== undefined) worker.failuresInRow = (succeeded ? 0 : worker.failuresInRow) + failures;
    }
    return ends;
  }

  /** Removes a worker that leaves. Its name is written, for the history of its runs. */
  async leave(uid: string): Promise<void> {
    const due = this.due().filter((write) => write.uid === uid);
    if (due.length > 0) await writeWorkers(this.database, due);
    this.forget(uid);
    await forgetWorkers(this.database, uid);
    this.tellAvailability();
  }

  /** Returns what must be written now; `written` follows once it is. */
  due(): WorkerWrite[] {
    const now = performance.now();
    for (const [uid, { presentAt }] of this.known) if (now - presentAt > forgottenMs) this.forget(uid);
    const due = [...this.known.values()].filter(
      ({ isChanged, presentAt, writtenAt }) =>
        isChanged || (presentAt > writtenAt && now - writtenAt > seenAgainMs),
    );
    return due.map(({ uid, keyId, report, presentAt, hasRun }) => {
      return { ...report, uid, keyId, hasRun, seenAgoMs: Math.max(0, now - presentAt) };
    });
  }

  /** Returns the uids of those that were not written before. */
  written(writes: readonly WorkerWrite[]): string[] {
    const now = performance.now();
    const added: string[] = [];
    for (const { uid, seenAgoMs, keyId: _, hasRun, ...report } of writes) {
      const worker = this.known.get(uid);
      if (worker === undefined) continue;
      if (worker.writtenAt === -Infinity) added.push(uid);
      worker.writtenAt = now - seenAgoMs;
      // What it has reported meanwhile is written the next time.
      worker.isChanged = !isSame(worker.report, report) || worker.hasRun !== hasRun;
    }
    return added;
  }

  /** Takes over what the table has, for all nodes. */
  read(states: readonly WorkerState[], counts: ReadonlyMap<string, number>): void {
    for (const { uid, told, state, failuresInRow, restsMs } of states) {
      const worker = this.known.get(uid);
      if (worker === undefined) continue;
      if (!worker.isChanged) worker.isIdle = isIdle(state);
      worker.failuresInRow = failuresInRow;
      // Ends since then are not in the table yet.
      if (!this.ended.has(uid))
        worker.restsUntil = restsMs === null ? -Infinity : performance.now() + restsMs;
      if (worker.told === told) continue;
      worker.told = told;
      this.toldChanges.next(worker);
    }
    this.counts = counts;
    this.tellAvailability();
  }

  /** Returns how many workers claim runs of the model, on all nodes; some seconds old. */
  count(modelId: string): number {
    const from = performance.now() - workerAwayMs;
    const here = [...this.known.values()].filter(
      ({ report: { models = [] }, told, isIdle, presentAt, restMs }) =>
        models.includes(modelId) && told === 'run' && !isIdle && (presentAt > from || restMs > 0),
    );
    return Math.max(this.counts.get(modelId) ?? 0, here.length);
  }

  private at(uid: string, keyId: string, id: string): KnownWorker {
    let worker = this.known.get(uid);
    if (worker === undefined) {
      const others = this.ofKeys.get(keyId) ?? 0;
      if (others >= maxWorkersOfKey) throw tooManyWorkers();
      this.ofKeys.set(keyId, others + 1);
      this.known.set(uid, (worker = new KnownWorker(uid, keyId, id)));
      this.arrivals.next();
    }
    return worker;
  }

  private forget(uid: string): void {
    const worker = this.known.get(uid);
    if (worker === undefined) return;
    this.known.delete(uid);
    const others = this.ofKeys.get(worker.keyId)! - 1;
    if (others === 0) this.ofKeys.delete(worker.keyId);
    else this.ofKeys.set(worker.keyId, others);
  }

  /** Models that workers run are available while a worker asks for runs. */
  private tellAvailability(): void {
    const pulled = this.models.takenBy('workers');
    this.availability.setWithoutWorkers(pulled.flatMap(({ id }) => (this.count(id) === 0 ? id : [])));
  }
}

const isIdle = (state: string): boolean => notClaiming.includes(state);

function tooManyWorkers(): DomainError {
  const detail =
    `This key already has ${maxWorkersOfKey} workers, which is the limit. Keep the id of a worker while it runs, ` +
    'and end it with DELETE /v1/worker/workers/<id>. A worker that is silent for a minute no longer counts.';
  return new DomainError('caller_busy', detail, { retryAfterSeconds: 60 });
}

/** Returns the same uid on every node, so that no lease must wait for the worker's row. */
export function uidOf(keyId: string, id: string): string {
  const hash = createHash('sha256').update(`${keyId} ${id}`).digest();
  // UUID version 8 is for custom ids like this.
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

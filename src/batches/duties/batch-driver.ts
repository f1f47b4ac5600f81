import { Injectable, Logger } from '@nestjs/common';
import { KeysService } from '../../auth/keys.service.js';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { NotifyChannel } from '../../database/notify-channel.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { DomainError } from '../../errors/domain-error.js';
import { Cluster } from '../../queue/cluster/cluster.js';
import { QueueEvents } from '../../queue/queue-events.js';
import { Cancels } from '../../queue/completion/cancels.js';
import { FileUses } from '../../queue/retention/file-uses.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { within } from '../../tools/within.js';
import { BatchDeliveries } from '../../webhooks/batch-deliveries.js';
import type { LineFault } from '../batch.js';
import { SegmentWriter } from '../segment-writer.js';
import { LineFormats } from '../line-formats.js';
import { LineSubmissions } from '../line-submissions.js';
import {
  endBatch,
  endBatchEarly,
  finalizeBatch,
  leaseBatch,
  type LeasedBatch,
  LeaseLost,
  nextBatchDueMs,
  releaseBatch,
  renewBatch,
  renewMs,
  startBatch,
} from '../queries/drive.js';
import { openRequestsOf, type Progress, readProgress } from '../queries/lines.js';
import { BatchValidation } from '../batch-validation.js';

/** At most this many lines of a batch are submitted and not in a segment yet. */
const windowLines = 2_000;
/** Number of finished lines that make a segment. Fewer make one once this time is over, because a model may keep payloads briefly. */
const segmentFrom = 500;
const segmentAfterMs = 60_000;
/** Batches that a node drives at once. Each has a turn of about this long, and then others have theirs. */
const atOnce = 3;
const turnMs = 5_000;
/** At most this many of them are checked. A check has no turns, because it starts from the first line. */
const checkedAtOnce = 2;
/** A turn in which nothing has changed is followed by a longer pause. */
const [firstPauseMs, longestPauseMs] = [100, 2_000];
/** After a turn that failed, and for a batch whose format this version does not know. */
const failedPauseMs = 5_000;
/**
 * A node that stops waits at most this long for the ends of its turns. A turn takes longer if the file store hangs, and
 * the other nodes take its batch once the lease runs out.
 */
const leaveMs = 10_000;
/** The messages that wake the drivers of all nodes. */
const topic = 'batches';
/** Requests that one statement cancels. */
const cancelledAtOnce = 500;

/**
 * Drives batches: checks their inputs, submits their lines, writes their files and ends them. A batch has one driver at a
 * time, by a lease with a token. Each step is one commit that a driver with an old token cannot make, so a driver may be
 * lost at any moment.
 */
@Injectable()
export class BatchDriver extends SelfStartingDuty {
  /** Batches that were added on other nodes are found after this time if their message was lost and nobody noticed. */
  protected readonly intervalMs = 120_000;
  /** The first look is at once, because a lost node may have left batches. */
  protected override readonly firstWithinMs = 0;
  protected override readonly shortestPauseMs = 50;
  private readonly log = new Logger(BatchDriver.name);
  private readonly stopping = new AbortController();
  private leaving: Promise<void> | undefined;
  private isWoken = false;
  private nextDueAt = Infinity;
  /** The database failed a turn. The next round fails with it, so that it is logged and counted. */
  private turnFault: unknown;
  /** The turns that have not ended renew their leases no more. */
  private hasLeft = false;
  /** The turns under way. The end of each wakes this duty. */
  private readonly turns = new Map<LeasedBatch, Promise<void>>();
  /** What a turn found when it had nothing to do, and the pause after it, by batch. */
  private readonly pauses = new Map<string, { found: string; ms: number }>();

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly channel: NotifyChannel,
    private readonly events: QueueEvents,
    private readonly cluster: Cluster,
    private readonly keys: KeysService,
    private readonly formats: LineFormats,
    private readonly validation: BatchValidation,
    private readonly submissions: LineSubmissions,
    private readonly segments: SegmentWriter,
    private readonly cancels: Cancels,
    private readonly uses: FileUses,
    private readonly deliveries: BatchDeliveries,
  ) {
    super();
  }

  override onApplicationBootstrap(): void {
    // Nodes of this role leave the work to the others.
    if (this.config.role === 'api') return;
    this.channel.listen(topic, () => this.wakeHere());
    this.events.subscribe(({ missed }) => {
      if (missed === true) this.wakeHere();
    });
    this.start();
  }

  override beforeApplicationShutdown(): Promise<void> {
    return this.leave();
  }

  /** Releases this node's batches for the other nodes. Idempotent. */
  leave(): Promise<void> {
    this.stopping.abort();
    return (this.leaving ??= this.stopAndSay());
  }

  private async stopAndSay(): Promise<void> {
    await within(leaveMs, this.stop(), undefined);
    this.hasLeft = true;
    this.channel.sendNow(topic, '');
  }

  /** Called after a commit that adds or cancels batches. The next driver that is free takes them, on whichever node. */
  wake(): void {
    this.wakeHere();
    this.channel.sendNow(topic, '');
  }

  private wakeHere(): void {
    this.isWoken = true;
    this.scheduleWithin(0);
  }

  protected override nextIntervalMs(): number {
    return this.isWoken ? 0 : this.intervalMs;
  }

  protected override dueInMs(): number {
    return this.nextDueAt - performance.now();
  }

  /** Begins turns of batches that are due, and does not wait for their ends. */
  async runOnce(): Promise<void> {
    this.isWoken = false;
    this.nextDueAt = performance.now() + longestPauseMs; // until the look succeeds
    if ((await this.look()) <= 0) {
      for (let batch = await this.lease(); batch !== undefined; batch = await this.lease()) this.begin(batch);
      await this.look();
    }
    const fault = this.turnFault;
    this.turnFault = undefined;
    if (fault !== undefined) throw fault as Error;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all(this.turns.values());
  }

  /** Returns and notes the milliseconds until a batch is due that this node can drive now. */
  private async look(): Promise<number> {
    const dueMs = this.hasRoom ? await nextBatchDueMs(this.database, this.mayCheck) : Infinity;
    if (dueMs === undefined) this.pauses.clear();
    this.nextDueAt = performance.now() + (dueMs ?? Infinity);
    return dueMs ?? Infinity;
  }

  private async lease(): Promise<LeasedBatch | undefined> {
    if (!this.hasRoom || this.stopping.signal.aborted) return undefined;
    return leaseBatch(this.database, this.cluster.nodeId, this.mayCheck);
  }

  private get hasRoom(): boolean {
    return this.turns.size < atOnce;
  }

  private get mayCheck(): boolean {
    const checked = [...this.turns.keys()].filter(({ status }) => status === 'validating');
    return checked.length < checkedAtOnce;
  }

  private begin(batch: LeasedBatch): void {
    const turn = this.driveTurn(batch)
      .catch((error: unknown) => this.note(batch, error))
      .finally(() => {
        this.turns.delete(batch);
        this.wakeHere();
      });
    this.turns.set(batch, turn);
  }

  /** Drives a batch for a while and releases it, unless it has ended or another node has it. */
  private async driveTurn(batch: LeasedBatch): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, lost.signal]);
    const renewing = setInterval(() => {
      if (this.hasLeft) return;
      renewBatch(this.database, batch).catch((error: unknown) => {
        if (error instanceof LeaseLost) lost.abort(error);
      });
    }, renewMs);
    try {
      const pauseMs = await this.drive(batch, signal);
      if (pauseMs !== undefined) await releaseBatch(this.database, batch, pauseMs);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // `LeaseLost` also means that the batch was cancelled meanwhile: then it is still this node's, and due at once.
      const isTurnOver = error instanceof LeaseLost || signal.aborted;
      if (!isTurnOver) this.note(batch, error);
      await releaseBatch(this.database, batch, isTurnOver ? 0 : failedPauseMs);
    } finally {
      clearInterval(renewing);
    }
  }

  /** Returns the milliseconds until the next turn. undefined: the batch has ended. */
  private async drive(batch: LeasedBatch, signal: AbortSignal): Promise<number | undefined> {
    if (this.formats.find(batch.format) === undefined) return failedPauseMs;
    const caller = await this.keys.callerOf(batch.keyId);
    const early = batch.isLate ? 'expired' : caller === undefined ? 'cancelled' : undefined;
    if (batch.total === null && early !== undefined) await this.endEarly(batch, early);
    if (batch.status === 'validating' && caller !== undefined) {
      const found = await this.validation.run(batch, caller, signal);
      if ('faults' in found) return this.end(batch, found.faults);
      await startBatch(this.database, batch, found.total);
      Object.assign(batch, { status: 'in_progress', total: found.total });
      this.wakeHere(); // another may be checked now
    }
    // It ended before its input was checked.
    if (batch.total === null) return this.end(batch);
    const untilMs = performance.now() + turnMs;
    while (performance.now() < untilMs) {
      signal.throwIfAborted();
      const progress = await readProgress(this.database, batch.id);
      // If all lines are done, nothing is left that could end early.
      const isDone = batch.readLines === batch.total && progress.open === 0;
      if (early !== undefined && !isDone) await this.endEarly(batch, early);
      const step = await this.step(batch, progress, { caller, untilMs, signal });
      if (step === 'ended') return undefined;
      if (step !== 'done') return step;
    }
    return 0;
  }

  /** Takes the most urgent step. Returns the milliseconds after which there may be more to do. */
  private async step(
    batch: LeasedBatch,
    { open, finished }: Progress,
    { caller, untilMs, signal }: Turn,
  ): Promise<'done' | 'ended' | number> {
    const isRead = batch.readLines === batch.total;
    const isLast = isRead && open === 0;
    if (isLast && batch.endsAs === null) await finalizeBatch(this.database, batch);
    if (isLast && finished === 0) {
      await this.end(batch);
      return 'ended';
    }
    const isOld = finished > 0 && batch.uncollectedMs >= segmentAfterMs;
    if (finished >= segmentFrom || isLast || isOld) {
      for (const kind of ['output', 'errors'] as const) await this.segments.write(batch, kind);
      batch.uncollectedMs = 0;
      return 'done';
    }
    const room = windowLines - open - finished;
    if (!isRead && room > 0) {
      if (batch.endsAs !== null) await this.submissions.refuse(batch, batch.endsAs, signal);
      else {
        const waitMs = await this.submissions.submit(batch, caller!, { room, untilMs, signal });
        if (waitMs > 0) return waitMs;
      }
      return 'done';
    }
    if (batch.endsAs !== null && open > 0) await this.cancelOpen(batch);
    return this.pauseOf(batch, `${batch.readLines} ${open} ${finished}`);
  }

  /** Requests that wait are over at once; those that run are over once their runs have stopped. */
  private async cancelOpen({ id, keyId }: LeasedBatch): Promise<void> {
    const ids = await openRequestsOf(this.database, id);
    for (let from = 0; from < ids.length; from += cancelledAtOnce)
      await this.cancels.many(keyId, ids.slice(from, from + cancelledAtOnce));
  }

  /** Does nothing if the batch ends early already. */
  private async endEarly(batch: LeasedBatch, endsAs: 'cancelled' | 'expired'): Promise<void> {
    if (batch.endsAs !== null) return;
    await endBatchEarly(this.database, batch, endsAs);
    Object.assign(batch, { endsAs, status: endsAs === 'cancelled' ? 'cancelling' : 'finalizing' });
  }

  private async end(batch: LeasedBatch, faults?: readonly LineFault[]): Promise<undefined> {
    const { id, keyId } = batch;
    await this.database.transaction(async (query) => {
      const { inputFileId, webhookUrl } = await endBatch({ query }, batch, faults);
      await this.uses.endOfBatch({ query }, id, inputFileId);
      await this.deliveries.add({ query }, { batchId: id, keyId, webhookUrl });
    });
    this.pauses.delete(id);
    this.deliveries.wake();
  }

  private pauseOf({ id }: LeasedBatch, found: string): number {
    const before = this.pauses.get(id);
    const ms = before?.found === found ? Math.min(longestPauseMs, before.ms * 2) : firstPauseMs;
    this.pauses.set(id, { found, ms });
    return ms;
  }

  private note({ id }: LeasedBatch, error: unknown): void {
    // The lease runs out.
    if (isDatabaseUnavailable(error)) return void (this.turnFault = error);
    // Domain errors, such as a full disk, are temporary.
    if (error instanceof DomainError) this.log.warn({ batchId: id }, `a batch waits: ${error.message}`);
    else this.log.error({ batchId: id, err: error }, 'a turn of a batch failed');
  }
}

interface Turn {
  /** undefined: the key is not valid any more. */
  caller: Awaited<ReturnType<KeysService['callerOf']>>;
  untilMs: number;
  signal: AbortSignal;
}

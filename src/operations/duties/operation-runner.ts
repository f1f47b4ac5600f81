import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../../database/database.js';
import type { Queries } from '../../database/statement.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { Cluster } from '../../queue/cluster/cluster.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { type Dealt, OperationActions } from '../actions.js';
import { OperationCollector } from '../operation-collector.js';
import {
  account,
  claimOperation,
  type ClaimedOperation,
  end,
  isAnyOpen,
  nextMembers,
  type Step,
} from '../queries/steps.js';
import type { OperationState } from '../entities/operation.entity.js';

const firstId = '00000000-0000-0000-0000-000000000000';
/** Members per step. A step holds its locks only for a moment. */
const stepSizes = { cancel: 500, erase: 100, retry: 50 };
/**
 * A step that failed is repeated with an eighth of its size, because one member may have broken it, or it may take longer
 * than a statement may. Steps that succeed grow again.
 */
const [shrinking, growing] = [8, 2];
const restMs = 50;
/** After this time, other operations that are open have their turns. A short one does not wait for a long one. */
const turnMs = 1_000;
/** Longer than the claim of a lost node lasts. */
const claimLifeMs = 20_000;
/**
 * Pause after a round that failed, while this node still has the claim. It doubles after each round without progress.
 */
const [retryMs, maxRetryMs] = [1_500, 60_000];

/** A step failed, apparently because of one of its members: the database itself is available. */
class MemberFault extends Error {
  constructor(
    readonly members: readonly string[],
    override readonly cause: unknown,
  ) {
    super('a step of an operation failed');
  }
}

/**
 * Runs operations in steps, each committed together with its counts. The node that started an operation runs it. The
 * other nodes check for operations left behind by a lost node.
 */
@Injectable()
export class OperationRunner extends SelfStartingDuty {
  protected readonly intervalMs = 600_000;
  /** Operations may have been left when all nodes had stopped. */
  protected override readonly firstWithinMs = claimLifeMs;
  private readonly log = new Logger(OperationRunner.name);
  private isStopping = false;
  /** True if it was woken since the current round began. */
  private isWoken = false;
  /** Rounds in a row that failed without completing a step. */
  private brokenOff = 0;
  /**
   * True if another node was working on an operation in the last round. If that node is lost, there is no second
   * notification.
   */
  private isWatching = false;
  /** The sizes of the next steps, by operation. They are kept after a turn and a failed round. */
  private readonly sizes = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly collector: OperationCollector,
    private readonly actions: OperationActions,
  ) {
    super();
    // The operation of a lost node is free once its claim expires.
    cluster.changes.subscribe(({ someLeft }) => {
      if (someLeft) this.scheduleWithin(claimLifeMs);
    });
  }

  /** The current operation continues on another node, or at the next start. */
  override async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.stop();
  }

  wake(): void {
    this.isWoken = true;
    this.scheduleWithin(0);
  }

  protected override nextIntervalMs(): number {
    if (this.isWoken) return 0;
    if (this.brokenOff > 0) return Math.min(maxRetryMs, retryMs * 2 ** (this.brokenOff - 1));
    return this.isWatching ? claimLifeMs : this.intervalMs;
  }

  async runOnce(): Promise<void> {
    this.isWoken = false;
    try {
      await this.workOff();
      this.brokenOff = 0;
    } catch (error) {
      this.brokenOff++;
      throw error;
    }
  }

  private async workOff(): Promise<void> {
    for (;;) {
      const operation = this.isStopping
        ? undefined
        : await claimOperation(this.database, this.cluster.nodeId);
      if (operation === undefined) {
        this.isWatching = !this.isStopping && (await isAnyOpen(this.database));
        if (!this.isWatching) this.sizes.clear();
        return;
      }
      await this.work(operation);
    }
  }

  /** Works until the operation is over or belongs to another node, or its turn is over. */
  private async work(operation: ClaimedOperation): Promise<void> {
    const until = performance.now() + turnMs;
    const hasTurn = (): boolean => !this.isStopping && performance.now() < until;
    let after = firstId;
    const { id, action } = operation;
    const { nodeId } = this.cluster;
    let { state: found }: { state: OperationState | null } = operation;
    while (found === 'collecting' && hasTurn())
      found = await this.sized(id, this.collector.maxLooks, (looks) =>
        this.collector.step(id, nodeId, looks),
      );
    if (found === null) return;
    while (hasTurn()) {
      const step = await this.sized(id, stepSizes[action], (max) => this.step(operation, after, max)).catch(
        (error: unknown) => this.countFailed(operation, error),
      );
      if (step === undefined) continue;
      const { state, members } = step;
      if (state === null) return;
      if (state === 'stopping') return this.finish(operation, 'stopped');
      if (members.length > 0) {
        after = members.at(-1)!;
        continue;
      }
      // Members that moved in the meantime are tried again, from the first one on.
      if (after === firstId) return this.finish(operation, 'done');
      after = firstId;
      await delay(restMs);
    }
  }

  private async finish({ id, action }: ClaimedOperation, state: 'stopped' | 'done'): Promise<void> {
    await end(this.database, id, state);
    this.log.log({ operationId: id, action }, `an operation is ${state}`);
  }

  /** Takes a step of at most `max` members or looks, or of fewer after one that failed. */
  private async sized<T>(id: string, max: number, take: (size: number) => Promise<T>): Promise<T> {
    const size = Math.min(max, this.sizes.get(id) ?? max);
    this.sizes.set(id, Math.ceil(size / shrinking));
    const result = await take(size);
    this.sizes.set(id, size * growing);
    this.brokenOff = 0;
    return result;
  }

  private async step(operation: ClaimedOperation, after: string, max: number): Promise<Step> {
    const { id } = operation;
    const look = { id, nodeId: this.cluster.nodeId, after, max };
    let publish: Dealt['publish'];
    const step = await this.database.transaction(async (query) => {
      const queries = { query };
      const next = await nextMembers(queries, look);
      if (next.state !== 'running' || next.members.length === 0) return next;
      const dealt = await this.deal(operation, queries, next.members).catch((error: unknown) => {
        throw isDatabaseUnavailable(error) ? error : new MemberFault(next.members, error);
      });
      await account(queries, id, dealt.ids, dealt);
      ({ publish } = dealt);
      return next;
    });
    publish?.();
    return step;
  }

  /** Counts a member that broke a step of its own as failed. The operation continues without it. */
  private async countFailed({ id, action }: ClaimedOperation, error: unknown): Promise<undefined> {
    if (!(error instanceof MemberFault)) throw error;
    const { members, cause } = error;
    if (members.length > 1) return;
    const lastError = this.actions.reasonOf(action, members[0]!, cause);
    await this.database.transaction(async (query) => {
      const { state } = await nextMembers(
        { query },
        { id, nodeId: this.cluster.nodeId, after: firstId, max: 0 },
      );
      if (state === null) return;
      await account({ query }, id, members, { done: 0, skipped: 0, failed: 1, lastError });
    });
  }

  private deal(
    { id, action, requestState }: ClaimedOperation,
    queries: Queries,
    members: readonly string[],
  ): Promise<Dealt> {
    switch (action) {
      case 'cancel':
        return this.actions.cancel(queries, members, requestState);
      case 'erase':
        return this.actions.erase(queries, members);
      case 'retry':
        return this.actions.retry(id, members);
    }
  }
}

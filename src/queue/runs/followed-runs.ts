import { Injectable, Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Database } from '../../database/database.js';
import { persist } from '../../database/persist.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { plainAddress } from '../circuits/target.js';
import {
  type Abandoned,
  findFollowedRun,
  type Found,
  forgetFollowedRun,
  giveUpFollowedRun,
  keepFollowedRun,
  takeAbandonedRuns,
} from './queries/followed-runs.js';
import type { FollowedRun } from './runner.js';
import type { RunExecution } from './run-execution.js';
import { RunnerRegistry } from './runner-registry.js';
import { RunStore } from './run-store.js';

/** The first of this many rounds without a followed model deletes old rows. */
const idleRounds = 1_800;

/**
 * Runs that continue at model servers without a connection. By their rows, any node can follow them, and cancel at the
 * server those that nobody waits for.
 */
@Injectable()
export class FollowedRuns {
  /** Emits when a followed run of this node has ended. */
  readonly ends = new Subject<void>();
  private readonly log = new Logger(FollowedRuns.name);
  /** The last form of each model whose runs are followed. It may leave models.yaml while its runs continue. */
  private readonly following = new Map<string, Model>();
  private rounds = 0;
  /** The cancels in progress. A call for one may take longer than the time after which its run is taken again. */
  private readonly cancels = new Map<Abandoned, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly runners: RunnerRegistry,
    private readonly store: RunStore,
  ) {
    this.noteModels();
    models.changes.subscribe(() => this.noteModels());
  }

  /** Keeps a run of this node. Rejects if it no longer holds its lease. */
  async keep(run: RunExecution, answer: FollowedRun['answer']): Promise<void> {
    const { requestId, attempt, start, model, address } = run;
    const { token } = run.claimed;
    const kept = { requestId, token, attempt, start, modelId: model.id, answer };
    const plain = plainAddress(address ?? model.runner.addresses()[0]!);
    if (!(await persist(() => keepFollowedRun(this.database, { ...kept, address: plain }))))
      throw new Error('the run has lost its lease');
  }

  /** Forgets a run of this node. One of an earlier start may be at its server, so it is cancelled there. */
  async forget({ requestId, start, followed, claimed: { token } }: RunExecution): Promise<void> {
    await persist(() =>
      followed === undefined
        ? forgetFollowedRun(this.database, { requestId, start, token })
        : giveUpFollowedRun(this.database, { requestId, start: followed.start, token }),
    );
  }

  /** Returns what an earlier run of the same attempt began. */
  async find({ requestId, attempt, start, model }: RunExecution): Promise<Found | undefined> {
    if (start === 1 || !model.runner.follows) return undefined;
    const found = await persist(() => findFollowedRun(this.database, requestId, attempt));
    const { mayBeginAnew } = model.runner;
    return found && { ...found, ...(mayBeginAnew && { ageMs: 0 }), address: addressOf(model, found) };
  }

  /** Begins to cancel runs at their servers that nobody waits for. A server that is slow delays those of no other. */
  async cancelAbandoned(): Promise<void> {
    const { following } = this;
    // Without such models, only old rows are deleted.
    if (following.size === 0 && this.rounds++ % idleRounds !== 0) return;
    const abandoned = await takeAbandonedRuns(
      this.database,
      [...following.keys()],
      [...this.cancels.keys()].map(({ requestId }) => requestId),
    );
    for (const run of abandoned) {
      const cancelling = this.cancel(run, following.get(run.modelId));
      this.cancels.set(
        run,
        cancelling.finally(() => this.cancels.delete(run)),
      );
    }
  }

  /** Waits for the cancels in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.cancels.values());
  }

  private noteModels(): void {
    for (const model of this.models.all()) if (model.runner.follows) this.following.set(model.id, model);
  }

  private async cancel(run: Abandoned, model: Model | undefined): Promise<void> {
    const { requestId } = run;
    try {
      if (model !== undefined) {
        const address = addressOf(model, run);
        const facts = () => this.store.facts(requestId);
        await this.runners.for(model).cancel?.({ ...run, address, model, facts });
      }
      await forgetFollowedRun(this.database, run);
    } catch (error) {
      this.log.warn(
        `${requestId} of ${run.modelId} could not be cancelled at its server (try ${run.tries} of 6): ${(error as Error).message}`,
      );
    }
  }
}

/** Returns the address of a model that a run was sent to. The model may have left it. */
function addressOf({ runner }: Model, { address }: FollowedRun): string {
  return runner.addresses().find((one) => plainAddress(one) === address) ?? address;
}

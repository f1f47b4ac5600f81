import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ControlKeeper } from './duties/control-keeper.js';
import { setDraining } from './queries/drain-node.js';
import { type Told, tellWorker } from '../workers/queries/workers.js';

export { type Told, workerAwayMs } from '../workers/queries/workers.js';

/** Writes and applies what operators set for models, nodes and workers. */
@Injectable()
export class Controls {
  private readonly log = new Logger(Controls.name);

  constructor(private readonly keeper: ControlKeeper) {}

  /** Called after the commit: this node follows the change from now on, the others soon. */
  async publish(): Promise<void> {
    // A failure does no harm: the change is committed, and every node reads it after its next heartbeat.
    await this.keeper
      .publish()
      .catch((error: Error) => this.log.debug(`the change is not yet read here: ${error.message}`));
  }

  /** A draining node starts nothing and leaves its slots to other nodes. undefined: there is no such node. */
  setDraining(manager: EntityManager, nodeId: string, isDraining: boolean): ReturnType<typeof setDraining> {
    return setDraining(manager, nodeId, isDraining);
  }

  /** Returns the order that the worker had before. undefined: there is no such worker. */
  tellWorker(manager: EntityManager, uid: string, told: Told): ReturnType<typeof tellWorker> {
    return tellWorker(manager, uid, told);
  }
}

import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ControlKeeper } from './duties/control-keeper.js';
import { type NodeState, setDraining } from './queries/drain-node.js';

/** What operators say of models and nodes, once it is written. */
@Injectable()
export class Controls {
  private readonly log = new Logger(Controls.name);

  constructor(private readonly keeper: ControlKeeper) {}

  /** After the commit: this node acts on it from now on, the others soon. */
  async publish(): Promise<void> {
    // What is committed holds, and every node reads it after its next heartbeat.
    await this.keeper.publish().catch((error: Error) => this.log.debug(`not read: ${error.message}`));
  }

  /** A node that drains starts nothing and leaves its slots to others. undefined: there is no such node. */
  setDraining(
    manager: EntityManager,
    nodeId: string,
    isDraining: boolean,
  ): Promise<{ before: NodeState; after: NodeState } | undefined> {
    return setDraining(manager, nodeId, isDraining);
  }
}

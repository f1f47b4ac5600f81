import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { DomainError } from '../../errors/domain-error.js';
import { ClusterSnapshots } from '../../overview/cluster-snapshots.js';
import type { AdminNodeListDto } from '../../overview/dto/nodes.dto.js';
import { toNodes } from '../../overview/node-view.js';
import { Controls } from '../../queue/cluster/controls.js';
import type { DrainedNodeDto } from './nodes.dto.js';

/** Shows operators the nodes, and drains one: it runs nothing more, and still serves calls. */
@Injectable()
export class Nodes {
  constructor(
    private readonly snapshots: ClusterSnapshots,
    private readonly controls: Controls,
    private readonly trail: AuditTrail,
  ) {}

  async list(): Promise<AdminNodeListDto> {
    const [snapshot, times] = await Promise.all([this.snapshots.get(), this.snapshots.getTimes()]);
    return { data: toNodes(snapshot, times), next_cursor: null };
  }

  async setDraining(
    actor: Actor,
    id: string,
    isDraining: boolean,
    reason: string | undefined,
  ): Promise<DrainedNodeDto> {
    const { name, role, drainingSince } = await this.trail.inTransaction(async (manager) => {
      const changed = await this.controls.setDraining(manager, id, isDraining);
      if (changed === undefined) throw new DomainError('unknown_id', `There is no node ${id}.`);
      const { before, after } = changed;
      if ((before.drainingSince === null) !== (after.drainingSince === null))
        await this.trail.write(manager, actor, {
          action: isDraining ? 'node.drain' : 'node.undrain',
          target: after.name,
          before: { draining_since: before.drainingSince },
          after: { draining_since: after.drainingSince },
          reason,
        });
      return after;
    });
    await this.controls.publish();
    return { id, name, role, draining_since: drainingSince?.toISOString() ?? null };
  }
}

import { Controller, Delete, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { validate as isUuid } from 'uuid';
import { AuditTrail } from '../audit/audit-trail.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { DomainError } from '../errors/domain-error.js';
import { Limited } from '../limits/limited.js';
import { Controls } from '../queue/controls.js';
import type { DrainedNodeDto } from './dto/node-drain.dto.js';
import { ApiDrainNode, ApiUndrainNode } from './openapi/node-drain.js';
import { ReasonBodies } from './requests/reason-bodies.js';

/** Drains a node: it runs nothing more, and still serves calls. */
@ApiTags('Admin')
@Controller('v1/admin/nodes/:node_id/drain')
export class NodeDrainController {
  constructor(
    private readonly controls: Controls,
    private readonly trail: AuditTrail,
    private readonly reasons: ReasonBodies,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiDrainNode()
  @Limited('admin', { needsKey: true })
  drainNode(
    @Param('node_id') id: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DrainedNodeDto> {
    return this.set(id, true, request, response);
  }

  @Delete()
  @ApiUndrainNode()
  @Limited('admin', { needsKey: true })
  undrainNode(
    @Param('node_id') id: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DrainedNodeDto> {
    return this.set(id, false, request, response);
  }

  private async set(
    id: string,
    isDraining: boolean,
    request: GuardedRequest,
    response: Response,
  ): Promise<DrainedNodeDto> {
    const reason = await this.reasons.read(request, response);
    const actor = this.trail.actorOf(request, request.caller);
    const node = await this.trail.change(async (manager) => {
      const changed = isUuid(id) ? await this.controls.setDraining(manager, id, isDraining) : undefined;
      if (changed === undefined) throw new DomainError('unknown_id', 'There is no such node.');
      const { before, after } = changed;
      const [from, to] = [before, after].map(({ drainingSince }) => ({ draining_since: drainingSince }));
      if ((before.drainingSince === null) !== (after.drainingSince === null)) {
        const action = isDraining ? 'node.drain' : 'node.undrain';
        const note = { action, target: after.name, before: from!, after: to!, reason } as const;
        await this.trail.write(manager, actor, note);
      }
      return after;
    });
    await this.controls.publish();
    const { name, role, drainingSince } = node;
    return { id: node.id, name, role, draining_since: drainingSince?.toISOString() ?? null };
  }
}

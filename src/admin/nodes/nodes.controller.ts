import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import { Id } from '../../http/input/decorators.js';
import type { AdminNodeListDto } from '../../overview/dto/nodes.dto.js';
import { Operators } from '../operators.js';
import * as docs from './nodes.docs.js';
import type { DrainedNodeDto } from './nodes.dto.js';
import { Nodes } from './nodes.js';

/** The processes of the cluster. */
@Controller('v1/admin/nodes')
export class NodesController {
  constructor(private readonly nodes: Nodes) {}

  @Get()
  @docs.ApiNodes
  @Operators('observe')
  adminNodes(): Promise<AdminNodeListDto> {
    return this.nodes.list();
  }

  @Post(':node_id/drain')
  @HttpCode(200)
  @docs.ApiDrainNode
  @Operators('admin')
  drainNode(
    @Actor() actor: Actor,
    @Id('node') id: string,
    @Reason() reason: string | undefined,
  ): Promise<DrainedNodeDto> {
    return this.nodes.setDraining(actor, id, true, reason);
  }

  @Delete(':node_id/drain')
  @docs.ApiUndrainNode
  @Operators('admin')
  undrainNode(
    @Actor() actor: Actor,
    @Id('node') id: string,
    @Reason() reason: string | undefined,
  ): Promise<DrainedNodeDto> {
    return this.nodes.setDraining(actor, id, false, reason);
  }
}

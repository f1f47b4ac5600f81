import { Controller, Get, Param, Patch, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { BaseUrl, JsonBody } from '../../http/input/decorators.js';
import { sendReply } from '../../http/reply.js';
import { PageQuery } from '../cursor-page.js';
import { Operators } from '../operators.js';
import { ApiChangeEndpoint, ApiReceivers } from './openapi.js';
import { Receivers } from './receivers.js';
import { ChangeEndpointDto, type ReceiverDto } from './webhooks.dto.js';

/** The receivers of webhooks, with their results. */
@Controller('v1/admin/webhooks')
export class ReceiversController {
  constructor(private readonly receiving: Receivers) {}

  @Get()
  @ApiReceivers()
  @Operators('observe')
  async receivers(
    @Query() query: PageQuery,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.receiving.list(caller, query, base));
  }

  @Patch(':webhook_id')
  @ApiChangeEndpoint()
  @Operators('admin')
  changeEndpoint(
    @Param('webhook_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @JsonBody(ChangeEndpointDto) change: ChangeEndpointDto,
  ): Promise<ReceiverDto> {
    return this.receiving.change(caller, actor, id, change);
  }
}

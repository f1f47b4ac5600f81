import { Controller, Get, Param, Patch } from '@nestjs/common';
import { Actor } from '../../audit/actor.decorator.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { JsonBody } from '../../http/input/decorators.js';
import { type Page, PageOf, PageQuery } from '../../http/input/page.js';
import { Operators } from '../operators.js';
import { ApiChangeEndpoint, ApiReceivers } from './webhooks.docs.js';
import { Receivers } from './receivers.js';
import { ChangeEndpointDto, type ReceiverDto, type ReceiverPageDto } from './webhooks.dto.js';

/** The receivers of webhooks, with their results. */
@Controller('v1/admin/webhooks')
export class ReceiversController {
  constructor(private readonly receiving: Receivers) {}

  @Get()
  @ApiReceivers
  @Operators('observe')
  listReceivers(
    @PageOf(PageQuery) page: Page<PageQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<ReceiverPageDto> {
    return this.receiving.list(caller, page);
  }

  @Patch(':webhook_id')
  @ApiChangeEndpoint
  @Operators('admin')
  updateReceiver(
    @Param('webhook_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @JsonBody(ChangeEndpointDto) change: ChangeEndpointDto,
  ): Promise<ReceiverDto> {
    return this.receiving.change(caller, actor, id, change);
  }
}

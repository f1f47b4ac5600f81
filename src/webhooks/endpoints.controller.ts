import { Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Actor } from '../audit/actor.decorator.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { Id, JsonBody, NoOptions, Options } from '../http/input/decorators.js';
import { type Page, PageOf, PageQuery } from '../http/input/page.js';
import {
  EndpointChangesDto,
  type EndpointDto,
  type EndpointPageDto,
  type MadeEndpointDto,
  NewEndpointDto,
  type WebhookSecretsDto,
} from './dto/endpoints.dto.js';
import { EndpointCalls } from './endpoint-calls.js';
import { MaySetWebhooks } from './may-set-webhooks.js';
import * as docs from './openapi/endpoints.js';

@ApiTags('Webhooks')
@Controller('v1/webhook-endpoints')
export class EndpointsController {
  constructor(private readonly endpoints: EndpointCalls) {}

  @Get()
  @docs.ApiListEndpoints
  @MaySetWebhooks()
  listWebhookEndpoints(
    @PageOf(PageQuery) page: Page<PageQuery>,
    @CurrentCaller() { keyId }: Caller,
  ): Promise<EndpointPageDto> {
    return this.endpoints.list(keyId, page);
  }

  @Post()
  @HttpCode(201)
  @docs.ApiAddEndpoint
  @MaySetWebhooks()
  addWebhookEndpoint(
    @Actor() actor: Actor,
    @JsonBody(NewEndpointDto) endpoint: NewEndpointDto,
  ): Promise<MadeEndpointDto> {
    return this.endpoints.add(actor, endpoint);
  }

  @Post('rotate-secret')
  @HttpCode(200)
  @docs.ApiRotateSecret
  @MaySetWebhooks()
  rotateOwnWebhookSecret(
    @Actor() actor: Actor,
    @Options(NoOptions) _options: NoOptions,
  ): Promise<WebhookSecretsDto> {
    return this.endpoints.rotate(actor);
  }

  @Get(':endpoint_id')
  @docs.ApiReadEndpoint
  @MaySetWebhooks()
  readWebhookEndpoint(
    @Id('endpoint') id: string,
    @CurrentCaller() { keyId }: Caller,
    @Options(NoOptions) _options: NoOptions,
  ): Promise<EndpointDto> {
    return this.endpoints.find(keyId, id);
  }

  @Patch(':endpoint_id')
  @docs.ApiUpdateEndpoint
  @MaySetWebhooks()
  updateWebhookEndpoint(
    @Actor() actor: Actor,
    @Id('endpoint') id: string,
    @JsonBody(EndpointChangesDto) changes: EndpointChangesDto,
  ): Promise<EndpointDto> {
    return this.endpoints.change(actor, id, changes);
  }

  @Delete(':endpoint_id')
  @HttpCode(204)
  @docs.ApiDeleteEndpoint
  @MaySetWebhooks()
  deleteWebhookEndpoint(@Actor() actor: Actor, @Id('endpoint') id: string): Promise<void> {
    return this.endpoints.remove(actor, id);
  }
}

import { Controller, Delete, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Actor } from '../audit/actor.decorator.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BaseUrl, Bytes, JsonBody, NoOptions, Options } from '../http/input/decorators.js';
import { type Page, PageOf } from '../http/input/page.js';
import { sendReply } from '../http/reply.js';
import { type CountItems, IdCount, ItemCount } from '../limits/counting.js';
import { Limited } from '../limits/limited.js';
import { Batch } from './batch.js';
import { CollectionHandlers } from './collection-handlers.js';
import {
  type CancelCountsDto,
  CancelManyDto,
  maxCancelIds,
  maxStatuses,
  RequestIdsDto,
  type RequestPageDto,
} from './dto/collection.dto.js';
import { ListQuery } from './dto/list.query.js';
import {
  ApiCancelMany,
  ApiErase,
  ApiList,
  ApiRetry,
  ApiStatuses,
  ApiSubmitMany,
} from './openapi/collection.js';

@ApiTags('Collection')
@Controller('v1/queue/requests')
export class CollectionController {
  constructor(
    private readonly handlers: CollectionHandlers,
    private readonly batch: Batch,
  ) {}

  @Get()
  @ApiList
  @Limited('read', { needsKey: true })
  listRequests(
    @PageOf(ListQuery) page: Page<ListQuery>,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
  ): Promise<RequestPageDto> {
    return this.handlers.list(caller, page, base);
  }

  @Post()
  @ApiSubmitMany
  @Limited('submit', { needsKey: true, isMany: true })
  async submitRequests(
    @Options(NoOptions) _options: NoOptions,
    @CurrentCaller() caller: Caller,
    @Bytes() body: Buffer,
    @Headers() headers: object,
    @BaseUrl() base: string,
    @ItemCount() countItems: CountItems,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.batch.submit(caller, body, headers, base, countItems));
  }

  @Post('status')
  @ApiStatuses
  @Limited('read', { needsKey: true })
  async readStatuses(
    @CurrentCaller() caller: Caller,
    @JsonBody(RequestIdsDto, { beforeParsing: [IdCount(maxStatuses)] }) requests: RequestIdsDto,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.statuses(caller, requests, base, response.req));
  }

  @Post('cancel')
  @HttpCode(200)
  @ApiCancelMany
  @Limited('cancel', { needsKey: true })
  cancelRequests(
    @CurrentCaller() caller: Caller,
    @JsonBody(CancelManyDto, { beforeParsing: [IdCount(maxCancelIds)] }) requests: CancelManyDto,
  ): Promise<CancelCountsDto> {
    return this.handlers.cancel(caller, requests);
  }

  @Post(':request_id/retry')
  @ApiRetry
  @Limited('submit', { needsKey: true })
  async retryRequest(
    @Param('request_id') requestId: string,
    @Options(NoOptions) _options: NoOptions,
    @Headers() headers: object,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.retry(caller, requestId, headers, base));
  }

  @Delete(':request_id')
  @HttpCode(204)
  @ApiErase
  @Limited('cancel', { needsKey: true })
  eraseRequest(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
  ): Promise<void> {
    return this.handlers.erase(caller, actor, requestId);
  }
}

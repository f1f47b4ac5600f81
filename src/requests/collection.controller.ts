import { Controller, Delete, Get, Headers, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BodyReader } from '../http/body-reader.js';
import { ClientAddress } from '../http/client-address.js';
import { sendReply } from '../http/reply.js';
import { answerOf, Gate } from '../limits/gate.js';
import { Limited } from '../limits/limited.js';
import { Batch } from './batch.js';
import { CollectionHandlers } from './collection-handlers.js';
import { ListQuery } from './dto/list.query.js';
import { SubmitHeaders } from './dto/submit.headers.js';
import { assertNoOptions } from '../http/input/option.js';
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
    private readonly bodies: BodyReader,
    private readonly addresses: ClientAddress,
    private readonly gate: Gate,
  ) {}

  @Get()
  @ApiList()
  @Limited('read', { needsKey: true })
  async listRequests(
    @Query() query: ListQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.list(caller, query, this.addresses.baseUrl(request)));
  }

  @Post()
  @ApiSubmitMany()
  @Limited('submit', { needsKey: true, isMany: true })
  async submitMany(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    assertNoOptions(request.query);
    const body = await this.bodies.read(request, response);
    const count = (items: number) => this.gate.enterItems(request, items, answerOf(response));
    const base = this.addresses.baseUrl(request);
    sendReply(response, await this.batch.submit(caller, body, request.headers, base, count));
  }

  @Post('status')
  @ApiStatuses()
  @Limited('read', { needsKey: true })
  async statuses(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    assertNoOptions(request.query);
    const body = await this.bodies.read(request, response);
    const count = (ids: number) => this.gate.enterForIds(ids, request, answerOf(response));
    sendReply(response, await this.handlers.statuses(caller, body, this.addresses.baseUrl(request), count));
  }

  @Post('cancel')
  @ApiCancelMany()
  @Limited('cancel', { needsKey: true })
  async cancelMany(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    assertNoOptions(request.query);
    const body = await this.bodies.read(request, response);
    const count = (ids: number) => this.gate.enterForIds(ids, request, answerOf(response));
    sendReply(response, await this.handlers.cancel(caller, body, count));
  }

  @Post(':request_id/retry')
  @ApiRetry()
  @Limited('submit', { needsKey: true })
  async retry(
    @Param('request_id') requestId: string,
    @Headers() _headers: SubmitHeaders,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    assertNoOptions(request.query);
    const base = this.addresses.baseUrl(request);
    sendReply(response, await this.handlers.retry(caller, requestId, request.headers, base));
  }

  @Delete(':request_id')
  @ApiErase()
  @Limited('cancel', { needsKey: true })
  async erase(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    await this.handlers.erase(caller, requestId);
    response.status(204).end();
  }
}

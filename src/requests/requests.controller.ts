import { Controller, Get, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { ClientAddress } from '../http/client-address.js';
import { BodyReader } from '../http/body-reader.js';
import { sendReply } from '../http/reply.js';
import { Limited } from '../limits/limited.js';
import { modelIdOfPath } from '../http/input/model-path.js';
import { ApiCancel, ApiFetchInput, ApiFetchResponse, ApiStatus, ApiSubmit } from './openapi/operations.js';
import { RequestHandlers } from './request-handlers.js';

/**
 * Most submissions and status calls are served by `FastPath`, with the same gate. Their logic belongs in
 * `RequestHandlers`.
 */
@ApiTags('Requests')
@Controller('v1/queue')
export class RequestsController {
  constructor(
    private readonly handlers: RequestHandlers,
    private readonly bodies: BodyReader,
    private readonly addresses: ClientAddress,
  ) {}

  @Get('requests/:request_id/status')
  @ApiStatus
  @Limited('read')
  async readStatus(
    @Param('request_id') requestId: string,
    @Query() query: object,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const base = this.addresses.baseUrl(request);
    sendReply(response, await this.handlers.status(caller, requestId, query, base, response));
  }

  @Get('requests/:request_id')
  @ApiFetchResponse
  @Limited('read')
  async fetchResponse(
    @Param('request_id') requestId: string,
    @Query() query: object,
    @CurrentCaller() caller: Caller | undefined,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.response(caller, requestId, query, response));
  }

  @Get('requests/:request_id/input')
  @ApiFetchInput
  @Limited('read')
  async readInput(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller | undefined,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.input(caller, requestId, response));
  }

  @Put('requests/:request_id/cancel')
  @ApiCancel
  @Limited('cancel')
  async cancelRequest(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller | undefined,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.cancel(caller, requestId));
  }

  @Post('*model_id')
  @ApiSubmit
  @Limited('submit', { needsKey: true })
  async submitRequest(
    @Query() query: object,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const modelId = modelIdOfPath(request.originalUrl);
    const base = this.addresses.baseUrl(request);
    const submitting = this.bodies
      .read(request, response)
      .then((body) => this.handlers.submit(caller, modelId, body, request.headers, query, base, response));
    sendReply(response, await submitting);
  }
}

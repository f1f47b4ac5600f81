import { Controller, Get, Header, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { Config } from '../config/config.js';
import { BodyReader } from '../http/body-reader.js';
import { Limited } from '../rate-limit/limited.decorator.js';
import type { CancelResponseDto } from './dto/cancel-response.dto.js';
import type { QueuedRequestDto } from './dto/queued-request.dto.js';
import { parseIdempotencyKey } from './idempotency-key.js';
import { parseLogsQuery } from './logs-query.js';
import { modelIdOfPath } from './model-path.js';
import { baseUrl, requestUrls } from './request-urls.js';
import { ApiCancel } from './openapi/api-cancel.js';
import { ApiFetchResponse } from './openapi/api-fetch-response.js';
import { ApiStatus } from './openapi/api-status.js';
import { ApiSubmit } from './openapi/api-submit.js';
import { RequestsService } from './requests.service.js';
import { toLogEntryView, toMetrics, type StatusView } from './status-view.js';

@Controller('v1/queue')
export class RequestsController {
  constructor(
    private readonly requests: RequestsService,
    private readonly bodies: BodyReader,
    private readonly config: Config,
  ) {}

  @Get('requests/:requestId/status')
  @ApiStatus()
  @Limited('read')
  @Header('Cache-Control', 'no-store')
  async status(
    @Param('requestId') requestId: string,
    @Query('logs') logs: unknown,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
  ): Promise<StatusView> {
    return this.requests.status(caller, requestId, parseLogsQuery(logs), baseUrl(request, this.config));
  }

  @Get('requests/:requestId')
  @ApiFetchResponse()
  @Limited('read')
  @Header('Cache-Control', 'no-store')
  async response(
    @Param('requestId') requestId: string,
    @Query('logs') logs: unknown,
    @CurrentCaller() caller: Caller | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const wanted = parseLogsQuery(logs);
    const row = await this.requests.find(caller, requestId);
    const output = await this.requests.output(row);
    response.type('application/json');
    if (!wanted) {
      response.send(output);
      return;
    }
    const entries = (await this.requests.log(row)).map(toLogEntryView);
    // The output goes through as the text it is: parsing and writing it again could change its numbers.
    response.send(
      `{"request_id":${JSON.stringify(row.id)},"status":"COMPLETED","response":${output},` +
        `"logs":${JSON.stringify(entries)},"metrics":${JSON.stringify(toMetrics(row))}}`,
    );
  }

  @Put('requests/:requestId/cancel')
  @ApiCancel()
  @Limited('cancel')
  async cancel(
    @Param('requestId') requestId: string,
    @CurrentCaller() caller: Caller | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CancelResponseDto> {
    const status = await this.requests.cancel(caller, requestId);
    response.status(status === 'CANCELLED' ? 200 : 202);
    return { status };
  }

  @Post('*path')
  @ApiSubmit()
  @HttpCode(202)
  @Limited('submit')
  async submit(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QueuedRequestDto> {
    const { id, replayed } = await this.requests.submit(
      caller,
      modelIdOfPath(request.originalUrl),
      await this.bodies.read(request, response),
      parseIdempotencyKey(request.headers['idempotency-key']),
    );
    const urls = requestUrls(baseUrl(request, this.config), id);
    response.setHeader('Location', urls.status_url);
    if (replayed) response.setHeader('Idempotent-Replayed', 'true');
    return { request_id: id, ...urls };
  }
}

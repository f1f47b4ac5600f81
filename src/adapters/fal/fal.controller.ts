import {
  All,
  Controller,
  Get,
  Headers,
  HttpCode,
  type MessageEvent,
  Param,
  Post,
  Put,
  Query,
  Req,
  Res,
  Sse,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { DomainError } from '../../errors/domain-error.js';
import { type InitiatedUploadDto, NewUploadDto } from '../../files/dto/files.dto.js';
import { MayUpload } from '../../files/may-upload.js';
import { Uploads } from '../../files/uploads.js';
import { BaseUrl, Bytes, HeaderFields, JsonBody, KnownOptions, ModelId } from '../../http/input/decorators.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { LogsQuery } from '../../requests/dto/logs.query.js';
import { maxPendingDataLength, StatusStreams, StreamHeaders } from '../../stream/status-streams.js';
import { setRequestId } from './answer-error.js';
import { FalHandlers } from './fal-handlers.js';
import { falHost } from './follow-target.js';
import { toFalStatus } from './wire.js';

/** A request is found by its id alone, because clients send only the beginning of its model's id. */
const one = '*model_id/requests/:request_id';

/** The queue API as fal's clients call it. fal documents it, so it is not in this service's own description. */
@ApiExcludeController()
@Controller('fal')
export class FalController {
  constructor(
    private readonly handlers: FalHandlers,
    private readonly streams: StatusStreams,
    private readonly uploads: Uploads,
  ) {}

  @Sse(`${one}/status/stream`, { maxPendingDataLength })
  @Limited('read')
  stream(
    @Param('request_id') requestId: string,
    @KnownOptions(LogsQuery) { logs }: LogsQuery,
    @HeaderFields(StreamHeaders) { 'last-event-id': seen }: StreamHeaders,
    @CurrentCaller() caller: Caller | undefined,
    @BaseUrl() base: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    setRequestId(response, requestId);
    return this.streams.open({ request, response, caller }, requestId, { logs, seen }, (snapshot, entries) =>
      toFalStatus(snapshot, base, entries),
    );
  }

  @Get(`${one}/status`)
  @Limited('read')
  async status(
    @Param('request_id') requestId: string,
    @Query() query: object,
    @CurrentCaller() caller: Caller | undefined,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.status(caller, requestId, query, base));
  }

  @Get([one, `${one}/response`])
  @Limited('read')
  async result(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const setField = (name: string, value: string): unknown => response.setHeader(name, value);
    sendReply(response, await this.handlers.result(caller, requestId, setField, request));
  }

  @Put(`${one}/cancel`)
  @Limited('cancel')
  async cancel(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller | undefined,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.cancel(caller, requestId));
  }

  /** Answers calls that `followTarget` did not forward. */
  @All()
  @Limited('read')
  unknown(): never {
    throw new DomainError(
      'bad_request',
      `Here a client with "proxyUrl" sends X-Fal-Target-Url with an address of https://${falHost}; others are not served.`,
    );
  }

  /** The same as the service's own route. Parameters that only concern fal's storage are ignored. */
  @Post('storage/upload/initiate')
  @HttpCode(200)
  @MayUpload()
  initiate(
    @CurrentCaller() { keyId }: Caller,
    @JsonBody(NewUploadDto) upload: NewUploadDto,
    @BaseUrl() base: string,
  ): Promise<InitiatedUploadDto> {
    return this.uploads.initiate({ keyId }, upload, base);
  }

  @Post('*model_id')
  @Limited('submit', { needsKey: true })
  async submit(
    @ModelId() modelId: string | undefined,
    @Query() query: object,
    @Headers() headers: IncomingHttpHeaders,
    @CurrentCaller() caller: Caller,
    @Bytes() body: Buffer,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.submit(caller, modelId, body, headers, query, base));
  }
}

import { Controller, type MessageEvent, Param, Req, Res, Sse } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BaseUrl, HeaderFields, KnownOptions } from '../http/input/decorators.js';
import { Limited } from '../limits/limited.js';
import { LogsQuery } from '../requests/dto/logs.query.js';
import { ApiStatusStream } from '../requests/openapi/operations.js';
import { toStatus } from '../requests/status-view.js';
import { ApiOutputStream } from './openapi.js';
import { maxPendingOutputLength, OutputHeaders, OutputQuery, OutputStreams } from './output-streams.js';
import { maxPendingDataLength, StatusStreams, StreamHeaders } from './status-streams.js';

@ApiTags('Stream')
@Controller('v1/queue')
export class StreamController {
  constructor(
    private readonly streams: StatusStreams,
    private readonly outputs: OutputStreams,
  ) {}

  @Sse('requests/:request_id/status/stream', { maxPendingDataLength })
  @ApiStatusStream
  @Limited('read')
  streamStatus(
    @Param('request_id') requestId: string,
    @KnownOptions(LogsQuery) { logs }: LogsQuery,
    @HeaderFields(StreamHeaders) { 'last-event-id': seen }: StreamHeaders,
    @CurrentCaller() caller: Caller | undefined,
    @BaseUrl() base: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    return this.streams.open({ request, response, caller }, requestId, { logs, seen }, (snapshot, entries) =>
      toStatus(snapshot, base, entries),
    );
  }

  @Sse('requests/:request_id/output/stream', { maxPendingDataLength: maxPendingOutputLength })
  @ApiOutputStream
  @Limited('read')
  streamOutput(
    @Param('request_id') requestId: string,
    @KnownOptions(OutputQuery) query: OutputQuery,
    @HeaderFields(OutputHeaders) headers: OutputHeaders,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    return this.outputs.open({ request, response, caller }, requestId, headers, query);
  }
}

import { Controller, Headers, type MessageEvent, Param, Query, Req, Res, Sse } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { ClientAddress } from '../http/client-address.js';
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
    private readonly addresses: ClientAddress,
  ) {}

  @Sse('requests/:request_id/status/stream', { maxPendingDataLength })
  @ApiStatusStream()
  @Limited('read')
  stream(
    @Param('request_id') requestId: string,
    @Query() _query: LogsQuery,
    @Headers() _headers: StreamHeaders,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const base = this.addresses.baseUrl(request);
    return this.streams.open(request, response, caller, requestId, (snapshot, logs) =>
      toStatus(snapshot, base, logs),
    );
  }

  @Sse('requests/:request_id/output/stream', { maxPendingDataLength: maxPendingOutputLength })
  @ApiOutputStream()
  @Limited('read')
  outputStream(
    @Param('request_id') requestId: string,
    @Query() _query: OutputQuery,
    @Headers() _headers: OutputHeaders,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    return this.outputs.open(request, response, caller, requestId);
  }
}

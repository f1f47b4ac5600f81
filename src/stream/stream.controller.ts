import { Controller, Headers, type MessageEvent, Param, Query, Req, Res, Sse } from '@nestjs/common';
import { ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt } from 'class-validator';
import type { Request, Response } from 'express';
import { EMPTY, type Observable } from 'rxjs';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { ClientAddress } from '../http/client-address.js';
import { QueueService } from '../queue/queue.service.js';
import { Limited } from '../limits/limited.js';
import { useCacheControl } from '../internals/cache-control.js';
import { validated } from '../http/validated.js';
import { LogsQuery } from '../requests/dto/logs.query.js';
import { ApiStatusStream } from '../requests/openapi/operations.js';
import { RequestHandlers } from '../requests/request-handlers.js';
import { toStatus } from '../requests/status-view.js';
import { keepAlive } from './keep-alive.js';
import { statusMessages } from './status-messages.js';
import { StatusSources } from '../queue/status-sources.js';

/** Characters of events that wait for a client that is not reading; beyond it the client is dropped. */
const maxPendingDataLength = 256 * 1024;

class StreamHeaders {
  @ApiPropertyOptional({
    name: 'Last-Event-ID',
    type: String,
    description: 'The `id` of the last event that was received, such as `42`: the stream goes on from there.',
  })
  // What is no id of ours, the stream begins anew for, as for one of another request.
  @Transform(({ value }: { value: string }) => (/^\d{1,15}$/.test(value) ? Number(value) : undefined))
  @IsInt()
  'last-event-id': number | undefined;
}

@ApiTags('Stream')
@Controller('v1/queue')
export class StreamController {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly queue: QueueService,
    private readonly sources: StatusSources,
    private readonly addresses: ClientAddress,
  ) {}

  @Sse('requests/:request_id/status/stream', { maxPendingDataLength })
  @ApiStatusStream()
  @Limited('read')
  async stream(
    @Param('request_id') requestId: string,
    @Query() query: LogsQuery,
    @Headers() headers: StreamHeaders,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const { logs } = validated(LogsQuery, query);
    const { 'last-event-id': seen } = validated(StreamHeaders, headers);
    const row = await this.requests.find(caller, requestId);
    if (request.method === 'HEAD') return EMPTY;
    // An id that no stream of this request can have sent is not believed.
    const after = seen !== undefined && seen <= row.lastEventId ? seen : undefined;
    if (row.state === 'COMPLETED' && after === row.lastEventId) {
      response.status(204).end(); // tells an EventSource not to come back
      return EMPTY;
    }
    useCacheControl(response, 'no-cache, no-transform');
    const base = this.addresses.baseUrl(request);
    return statusMessages({
      snapshots: this.sources.watch(row),
      after: after ?? 0,
      readLog: logs ? (from, upTo) => this.queue.log(row.id, from, upTo) : undefined,
      render: (snapshot, entries) => JSON.stringify(toStatus(snapshot, base, entries)),
    }).pipe(keepAlive(response));
  }
}

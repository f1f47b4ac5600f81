import { Controller, Headers, type MessageEvent, Param, Query, Req, Res, Sse } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EMPTY, type Observable } from 'rxjs';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BaseUrl } from '../http/base-url.js';
import { QueueService } from '../queue/queue.service.js';
import { Limited } from '../limits/limited.decorator.js';
import { parseLogsQuery } from '../requests/logs-query.js';
import { RequestsService } from '../requests/requests.service.js';
import { toStatusView } from '../requests/status-view.js';
import { keepAlive } from './keep-alive.js';
import { statusMessages } from './status-messages.js';
import { StatusSources } from './status-sources.js';
import { ApiStatusStream } from './api-status-stream.js';
import { sseHeaders } from './sse-headers.js';

/** Characters of events that wait for a client that is not reading; beyond it the client is dropped. */
const maxPendingDataLength = 256 * 1024;

@Controller('v1/queue')
export class StreamController {
  constructor(
    private readonly requests: RequestsService,
    private readonly queue: QueueService,
    private readonly sources: StatusSources,
    private readonly bases: BaseUrl,
  ) {}

  @Sse('requests/:requestId/status/stream', { maxPendingDataLength })
  @ApiStatusStream()
  @Limited('read')
  async stream(
    @Param('requestId') requestId: string,
    @Query('logs') logs: unknown,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const wanted = parseLogsQuery(logs);
    const row = await this.requests.find(caller, requestId);
    if (request.method === 'HEAD') return EMPTY;
    const after = parseEventId(lastEventId, row.lastEventId);
    if (row.state === 'COMPLETED' && after === row.lastEventId) {
      response.status(204).end(); // tells an EventSource not to come back
      return EMPTY;
    }
    sseHeaders(response);
    const base = this.bases.of(request);
    return statusMessages({
      snapshots: this.sources.watch(row),
      after: after ?? 0,
      readLog: wanted ? (from, upTo) => this.queue.log(row.id, from, upTo) : undefined,
      render: (snapshot, entries) =>
        JSON.stringify(
          toStatusView({ row: snapshot.row, base, position: () => snapshot.position, logs: entries }),
        ),
    }).pipe(keepAlive(response));
  }
}

/** undefined unless it is an id that a stream of this request may have sent. */
function parseEventId(text: string | undefined, newest: number): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) && Number(text) <= newest ? Number(text) : undefined;
}

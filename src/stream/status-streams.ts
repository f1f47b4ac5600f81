import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EMPTY, type Observable } from 'rxjs';
import type { Caller } from '../auth/caller.js';
import { CallerWatch } from '../auth/caller-watch.js';
import { chargesOf } from '../http/charges.js';
import { HeaderField } from '../http/input/option.js';
import { rule } from '../tools/rules.js';
import { QueueService } from '../queue/queue.service.js';
import type { LogEntry } from '../queue/runs/run-log.js';
import { StatusSources } from '../queue/reads/status-sources.js';
import type { Snapshot } from '../queue/reads/status-row.js';
import { RequestHandlers } from '../requests/request-handlers.js';
import { keepAlive } from './keep-alive.js';
import { placeOf, statusMessages, type StreamPlace } from './status-messages.js';
import { useStreamHead } from './stream-head.js';

/** Characters of events pending for a client that is not reading. Above this, the client is dropped. */
export const maxPendingDataLength = 256 * 1024;

/** With an id that is not ours, or is of another request, the stream starts from the beginning. */
const eventId = rule({ type: String }, (value) => placeOf(String(value)));

export class StreamHeaders {
  @HeaderField('Last-Event-ID', eventId, {
    description:
      'The `id` of the last event that the client received, such as `42.1725`. The stream continues after it, and ' +
      'does not repeat the status of that event. An id that is not of this stream is ignored.',
  })
  'last-event-id': StreamPlace | undefined;
}

/** A call that is answered with a stream. */
export interface StreamCall {
  request: Request;
  response: Response;
  caller: Caller | undefined;
}

/** Opens status streams, for all routes that serve one. */
@Injectable()
export class StatusStreams {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly queue: QueueService,
    private readonly sources: StatusSources,
    private readonly watch: CallerWatch,
  ) {}

  /**
   * `seen`: the place of the last event that the client has received. `render` returns the status object. It gets only
   * log entries that no earlier message had.
   */
  async open(
    { request, response, caller }: StreamCall,
    requestId: string,
    { logs, seen }: { logs: boolean; seen: StreamPlace | undefined },
    render: (snapshot: Snapshot, logs: LogEntry[] | undefined) => object,
  ): Promise<Observable<MessageEvent>> {
    const row = await this.requests.find(caller, requestId, request);
    if (request.method !== 'HEAD') chargesOf(request)?.take('streams', 1);
    useStreamHead(response);
    if (request.method === 'HEAD') return EMPTY;
    // An id that no stream of this request can have sent is ignored.
    const after = seen !== undefined && seen.upTo <= row.lastEventId ? seen : undefined;
    if (row.state === 'COMPLETED' && after?.upTo === row.lastEventId) {
      response.status(204).end(); // an EventSource does not reconnect after a 204
      return EMPTY;
    }
    return statusMessages({
      snapshots: this.sources.watch(row),
      after,
      readLog: logs ? (from, upTo) => this.queue.log(row.id, from, upTo) : undefined,
      render: (snapshot, entries) => JSON.stringify(render(snapshot, entries)),
    }).pipe(this.watch.whilePermitted(request, caller), keepAlive(response));
  }
}

import { Injectable, type MessageEvent } from '@nestjs/common';
import { concat, concatMap, defer, EMPTY, map, merge, type Observable, takeWhile } from 'rxjs';
import { type Caller, hasScope } from '../../auth/caller.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { DomainError } from '../../errors/domain-error.js';
import { QueueService } from '../../queue/queue.service.js';
import { StatusSources } from '../../queue/reads/status-sources.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import { idOf, type OutputPosition } from '../../stream/output-place.js';
import { type OutputHeaders, OutputStreams } from '../../stream/output-streams.js';
import { statusMessages } from '../../stream/status-messages.js';
import type { StreamCall } from '../../stream/status-streams.js';
import { statusOf } from './prediction.js';
import { StreamUrls } from './stream-urls.js';
import { failureMessage } from '../failure-message.js';

/** The message of the event that reports a new attempt. The parts before it are no longer valid. */
const begunAgain = 'The prediction began again, so the output before this event is no longer valid.';

/** The output and the log of a prediction as server-sent events: `output`, `logs`, `error`, `done`. */
@Injectable()
export class PredictionStreams {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly outputs: OutputStreams,
    private readonly statuses: StatusSources,
    private readonly queue: QueueService,
    private readonly watch: CallerWatch,
    private readonly urls: StreamUrls,
  ) {}

  /**
   * The signature in the URL is enough. Without it the call needs a key that may read. A browser sends the cookie of its
   * session unasked, so the session counts only without a signature.
   */
  async open(
    made: StreamCall,
    requestId: string,
    query: object,
    headers: OutputHeaders,
  ): Promise<Observable<MessageEvent>> {
    const { request, response } = made;
    const isSigned = this.urls.isSigned(requestId, query);
    const caller = isSigned && made.caller?.sessionId !== undefined ? undefined : made.caller;
    if (!isSigned) assertMayRead(caller);
    const row = await this.requests.find(caller, requestId, request);
    const outputs = await this.outputs.open({ request, response, caller }, row.id, headers, {
      starting_after: undefined,
    });
    if (request.method === 'HEAD' || response.writableEnded) return EMPTY;
    // A client that reconnects gets the lines from then on.
    const seenUpTo = headers['last-event-id'] === undefined ? 0 : row.lastEventId;
    const logs = this.logsOf(row, seenUpTo).pipe(this.watch.whilePermitted(request, caller));
    const parts = outputs.pipe(concatMap(toParts));
    // The end comes after the last line of the log.
    const ends = defer(() => this.requests.find(caller, row.id)).pipe(concatMap(endOf));
    return concat(merge(parts, logs), ends).pipe(
      takeWhile(({ type }) => type !== 'done', true),
      map(withPlace(headers['last-event-id'])),
    );
  }

  private logsOf(row: StatusRow, upTo: number): Observable<MessageEvent> {
    return statusMessages({
      snapshots: this.statuses.watch(row, { positions: false }),
      after: { upTo },
      readLog: (after, last) => this.queue.log(row.id, after, last),
      render: (_snapshot, entries = []) => entries.map(({ message }) => `${message}\n`).join(''),
    }).pipe(concatMap(({ data }) => (data === undefined || data === '' ? EMPTY : [{ type: 'logs', data }])));
  }
}

function assertMayRead(caller: Caller | undefined): void {
  if (caller === undefined)
    throw new DomainError('missing_key', 'Use the URL as it is in "urls.stream", or send your API token.');
  if (hasScope(caller, 'read')) return;
  throw new DomainError('forbidden', 'This API key does not have the scope "read".');
}

/** Returns an event of the service's own stream in Replicate's form. Texts are sent as they are. */
function toParts(event: MessageEvent): MessageEvent[] {
  if (event.type === undefined) return [event];
  if (event.type === 'reset') return [{ ...errorOf(begunAgain), id: event.id! }, doneOf('error')];
  if (event.type !== 'output') return [];
  const [, delta] = /^\{"index":\d+,"delta":(.*)\}$/s.exec(event.data as string)!;
  const value: unknown = delta!.startsWith('"') ? JSON.parse(delta!) : delta;
  return [{ type: 'output', id: event.id!, data: value as string }];
}

/**
 * Gives events other than parts the id of the part before them, so that a reader continues there whatever its last event
 * was. Before the first part the id is empty. The Python client drops events that have none.
 */
function withPlace(seen: OutputPosition | undefined): (event: MessageEvent) => MessageEvent {
  let place = seen === undefined ? '' : idOf(seen);
  return (event) => {
    if (event.type === undefined) return event;
    place = event.id ?? place;
    return { ...event, id: place };
  };
}

/** Returns nothing if the prediction has not ended, because the service stops. */
function endOf(row: StatusRow): MessageEvent[] {
  // An EventSource that connects again after the end is answered that there is nothing more.
  const id = idOf({ attempt: row.attempt, at: 'done' });
  switch (statusOf(row)) {
    case 'succeeded':
      return [{ ...doneOf(), id }];
    case 'canceled':
      return [{ ...doneOf('canceled'), id }];
    case 'failed':
      return [errorOf(failureMessage(row.error!)), { ...doneOf('error'), id }];
    default:
      return [];
  }
}

const errorOf = (detail: string): MessageEvent => ({ type: 'error', data: JSON.stringify({ detail }) });
const doneOf = (reason?: string): MessageEvent => ({ type: 'done', data: JSON.stringify({ reason }) });

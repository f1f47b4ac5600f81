import { Injectable, type MessageEvent } from '@nestjs/common';
import { EMPTY, type Observable } from 'rxjs';
import { CallerWatch } from '../auth/caller-watch.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { writeInPieces } from '../http/in-pieces.js';
import { HeaderField, Option } from '../http/input/option.js';
import { rule } from '../tools/rules.js';
import { OutputSources } from '../queue/reads/output-sources.js';
import { QueueService } from '../queue/queue.service.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { gone, RequestHandlers } from '../requests/request-handlers.js';
import { keepAlive } from './keep-alive.js';
import { canBeOf, type OutputPosition, positionOf } from './output-place.js';
import { OutputReader, type ShowPart } from './output-reader.js';
import { type Pulled, pulled } from './pulled.js';
import type { StreamCall } from './status-streams.js';
import { useStreamHead } from './stream-head.js';

/** `pulled` bounds the pending data. An output sent as one event may exceed any other bound. */
export const maxPendingOutputLength = Infinity;

const expected = 'expected the id of an event of this stream, such as 1.7, once';
const eventId = rule({ type: String, example: '1.7' }, (value) => {
  if (value === '') return undefined;
  const position = typeof value === 'string' ? positionOf(value) : undefined;
  if (position !== undefined) return position;
  throw new Error(expected);
});

export class OutputHeaders {
  @HeaderField('Last-Event-ID', eventId, {
    description: 'The `id` of the last event that the client received. The stream continues after it.',
  })
  'last-event-id': OutputPosition | undefined;
}

export class OutputQuery {
  @Option(
    eventId,
    'Like the header `Last-Event-ID`, for clients that cannot send it. The header takes precedence.',
  )
  starting_after: OutputPosition | undefined;
}

/** Opens output streams, for all routes that serve one. */
@Injectable()
export class OutputStreams {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly sources: OutputSources,
    private readonly queue: QueueService,
    private readonly watch: CallerWatch,
  ) {}

  async open(
    { request, response, caller }: StreamCall,
    requestId: string,
    { 'last-event-id': byField }: OutputHeaders,
    { starting_after: byOption }: OutputQuery,
  ): Promise<Observable<MessageEvent>> {
    const seen = byField ?? byOption;
    const row = await this.requests.find(caller, requestId, request);
    if (seen !== undefined && !canBeOf(row, seen)) {
      throw byField === undefined
        ? new DomainError('invalid_query', `The option "starting_after": ${expected}.`)
        : new DomainError('bad_request', `The header "Last-Event-ID": ${expected}.`);
    }
    if (request.method !== 'HEAD') chargesOf(request)?.take('streams', 1);
    const hasDone = seen !== undefined && 'at' in seen && seen.at === 'done';
    if (row.outcome === 'succeeded' && !hasDone && !(await this.queue.hasOutput(row.id))) throw gone();
    useStreamHead(response);
    if (request.method === 'HEAD') return EMPTY;
    if (hasDone) {
      response.status(204).end(); // an EventSource does not reconnect after a 204
      return EMPTY;
    }
    writeInPieces(response);
    return this.events({ request, response, caller }, row, { seen });
  }

  /**
   * The events of an open stream. A comment comes every 15 s. It ends with the request, if the service stops, or if the
   * caller may no longer read it. `show`: returns what an event shows of a part; by default its delta.
   * `endsWithAttempt`: returns whether the reader of a part cannot begin again with another attempt, so that the stream
   * ends with a reset as soon as the request waits for one.
   */
  events(
    { request, response, caller }: StreamCall,
    row: StatusRow,
    {
      seen,
      show,
      endsWithAttempt,
    }: { seen?: OutputPosition | undefined; show?: ShowPart; endsWithAttempt?: () => boolean } = {},
  ): Observable<MessageEvent> {
    const open = (): Pulled => {
      const source = this.sources.open(row);
      const whole = (): Promise<string> => this.requests.output(source.row, request);
      const reader = new OutputReader(source, seen, whole, show, endsWithAttempt);
      const close = (): void => {
        reader.close();
        this.sources.close(source);
      };
      return { events: reader.events(), close };
    };
    return pulled(open, response).pipe(this.watch.whilePermitted(request, caller), keepAlive(response));
  }
}

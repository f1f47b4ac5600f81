import { Injectable, type MessageEvent } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { EMPTY, type Observable, takeUntil } from 'rxjs';
import type { Caller } from '../auth/caller.js';
import { CallerWatch } from '../auth/caller-watch.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { writeInPieces } from '../http/in-pieces.js';
import { problem, validated } from '../http/input/validated.js';
import { OutputSources } from '../queue/output-sources.js';
import { QueueService } from '../queue/queue.service.js';
import type { StatusRow } from '../queue/status-row.js';
import { gone, RequestHandlers } from '../requests/request-handlers.js';
import { Parsed } from '../tools/validation.js';
import { keepAlive } from './keep-alive.js';
import { canBeOf, type OutputPosition, positionOf } from './output-place.js';
import { OutputReader } from './output-reader.js';
import { type Pulled, pulled } from './pulled.js';
import { useStreamHead } from './stream-head.js';

/** `pulled` bounds the pending data. An output sent as one event may exceed any other bound. */
export const maxPendingOutputLength = Infinity;

const example = '1.7';
const [field, parameter] = ['The field Last-Event-ID', 'The query parameter "starting_after"'];
const fault = (what: string): string =>
  `${what} takes the id of an event of this stream, such as ${example}, once.`;
const eventId = (what: string) => (value: unknown) => {
  if (value === undefined || value === '') return undefined;
  const position = typeof value === 'string' ? positionOf(value) : undefined;
  if (position !== undefined) return position;
  throw new Error(fault(what));
};

export class OutputHeaders {
  @ApiPropertyOptional({
    name: 'Last-Event-ID',
    type: String,
    example,
    description: 'The `id` of the last event that the client received. The stream continues after it.',
  })
  @Parsed(eventId(field))
  'last-event-id': OutputPosition | undefined;
}

export class OutputQuery {
  @ApiPropertyOptional({
    type: String,
    example,
    description:
      'Like the header `Last-Event-ID`, for clients that cannot send it. The header takes precedence.',
  })
  @Parsed(eventId(parameter), problem('invalid_query'))
  starting_after: OutputPosition | undefined;
}

/** The rules of an output stream, for every route that serves one. */
@Injectable()
export class OutputStreams {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly sources: OutputSources,
    private readonly queue: QueueService,
    private readonly watch: CallerWatch,
  ) {}

  async open(
    request: Request,
    response: Response,
    caller: Caller | undefined,
    requestId: string,
  ): Promise<Observable<MessageEvent>> {
    const byField = validated(OutputHeaders, request.headers)['last-event-id'];
    const seen = byField ?? validated(OutputQuery, request.query).starting_after;
    const row = await this.requests.find(caller, requestId, request);
    if (seen !== undefined && !canBeOf(row, seen)) {
      throw byField === undefined
        ? new DomainError('invalid_query', fault(parameter))
        : new DomainError('bad_request', fault(field));
    }
    if (request.method !== 'HEAD') chargesOf(request)?.take('streams', 1);
    useStreamHead(request, response);
    if (request.method === 'HEAD') return EMPTY;
    writeInPieces(response);
    if (seen !== undefined && 'at' in seen && seen.at === 'done') {
      response.status(204).end(); // an EventSource does not reconnect after a 204
      return EMPTY;
    }
    if (row.outcome === 'succeeded' && !(await this.queue.hasOutput(row.id))) throw gone();
    return pulled(() => this.read(row, seen, request), response).pipe(
      takeUntil(this.watch.refused(request, caller)),
      keepAlive(response),
    );
  }

  private read(row: StatusRow, seen: OutputPosition | undefined, request: Request): Pulled {
    const source = this.sources.open(row);
    const reader = new OutputReader(source, seen, () => this.requests.output(source.row, request));
    const close = (): void => {
      reader.close();
      this.sources.close(source);
    };
    return { events: reader.events(), close };
  }
}

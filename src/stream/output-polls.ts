import { Injectable } from '@nestjs/common';
import { fromEvent, merge, timer } from 'rxjs';
import { CallerWatch } from '../auth/caller-watch.js';
import { chargesOf } from '../http/charges.js';
import { OutputSources } from '../queue/reads/output-sources.js';
import { ReadPlaces } from '../queue/reads/read-places.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { RequestHandlers } from '../requests/request-handlers.js';
import { positionOf } from './output-place.js';
import { OutputReader } from './output-reader.js';
import type { StreamCall } from './status-streams.js';

/** A part of an output. */
interface ReadPart {
  attempt: number;
  index: number;
  /** JSON text. */
  delta: string;
}

/** What a call has read of an output. */
interface ReadOutput {
  row: StatusRow;
  parts: ReadPart[];
  /** The output has ended, and no part is left. */
  isDone: boolean;
}

type Read = ReadOutput & { place: string | null };

/** Reads outputs in pieces, for calls that do not name the position at which they continue. Each part is read once. */
@Injectable()
export class OutputPolls {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly sources: OutputSources,
    private readonly places: ReadPlaces,
    private readonly watch: CallerWatch,
  ) {}

  /**
   * Returns the next parts, as soon as there are some, or the end. Returns nothing once the wait is over. A part counts
   * as read when it is returned, but not to a HEAD, whose answer has no body.
   */
  async next(call: StreamCall, requestId: string, waitMs: number): Promise<ReadOutput> {
    const hold = chargesOf(call.request)?.take('streams', 1);
    const until = performance.now() + waitMs;
    try {
      for (;;) {
        const row = await this.requests.find(call.caller, requestId, call.request);
        const place = await this.places.of(row.id);
        const read = await this.read(call, row, place, Math.max(0, until - performance.now()));
        await this.watch.confirm(call);
        const isUnread = call.request.method === 'HEAD' || call.response.destroyed;
        const keepsPlace = isUnread || read.place === null || read.place === place;
        // Once the place has moved, the parts must be sent.
        if (!keepsPlace) chargesOf(call.request)?.reserveAnswer(sizeOf(read.parts));
        if (keepsPlace || (await this.places.move(row.id, place, read.place!))) return read;
      }
    } finally {
      hold?.release();
    }
  }

  private async read(
    { request, response, caller }: StreamCall,
    row: StatusRow,
    from: string | null,
    waitMs: number,
  ): Promise<Read> {
    const source = this.sources.open(row);
    const seen = from === null ? undefined : positionOf(from);
    const reader = new OutputReader(source, seen, () => this.requests.output(source.row, request));
    const close = (): void => reader.close();
    const ending = merge(timer(waitMs), fromEvent(response, 'close'))
      .pipe(this.watch.whilePermitted(request, caller))
      .subscribe({ next: close, complete: close });
    const read: Read = { row, parts: [], isDone: false, place: from };
    try {
      for await (const events of reader.events()) {
        for (const { type, id = '', data } of events) {
          read.place = id;
          if (type === 'output') read.parts.push(partOf(id, data as string));
          if (type === 'done') read.isDone = true;
        }
        if (read.parts.length > 0 || read.isDone) break;
      }
    } finally {
      ending.unsubscribe();
      close();
      this.sources.close(source);
    }
    return { ...read, row: source.row };
  }
}

/** The bytes of the parts in an answer, with room for what stands between them. */
const sizeOf = (parts: readonly ReadPart[]): number =>
  parts.reduce((bytes, { delta }) => bytes + Buffer.byteLength(delta) + 200, 1_000);

/** `data`: `{"index":…,"delta":…}`, whose delta is kept as it was written. */
function partOf(id: string, data: string): ReadPart {
  const [, index, delta] = /^\{"index":(\d+),"delta":(.*)\}$/s.exec(data)!;
  return { attempt: Number.parseInt(id, 10), index: Number(index), delta: delta! };
}

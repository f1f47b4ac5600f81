import type { MessageEvent } from '@nestjs/common';
import type { OutputSource, ReadPlace } from '../queue/reads/output-source.js';
import { deltaIn } from '../queue/reads/output-part.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { attemptOf } from '../requests/status-view.js';
import { idOf, type OutputPosition } from './output-place.js';

/** Returns what a reader is shown of a part, as JSON text. undefined: nothing. */
export type ShowPart = (part: string) => string | undefined;

/** One reader of a streamed output. It yields what to send, as fast as the reader takes it. */
export class OutputReader {
  private isClosed = false;
  /** The position after the last part that was read, shown or not. */
  private read: ReadPlace | undefined;

  constructor(
    private readonly source: OutputSource,
    /** undefined: nothing was sent yet, so nothing needs a reset. */
    private seen: OutputPosition | undefined,
    /** Returns the output of a succeeded request, as JSON text. */
    private readonly whole: () => Promise<string>,
    private readonly show: ShowPart = deltaIn,
    /**
     * Returns whether the reader cannot begin again with another attempt. A reset ends its stream then, as soon as the
     * request waits for one. undefined: it can.
     */
    private readonly endsWithAttempt?: () => boolean,
  ) {
    if (seen !== undefined && 'index' in seen) this.read = seen;
  }

  close(): void {
    this.isClosed = true;
    this.source.release(this);
  }

  /** Ends with the request, or with the process. */
  async *events(): AsyncGenerator<MessageEvent[]> {
    while (!this.isClosed) {
      const { version, row } = this.source;
      if (this.seen !== undefined && row.state === 'IN_QUEUE' && this.endsWithAttempt?.() === true) {
        yield [resetEvent(row)];
        return;
      }
      // Parts of an attempt that was handed back are useless while the request waits for the next one.
      if (row.state !== 'IN_QUEUE' && row.attempt > 0) yield* this.newParts(row);
      if (row.state === 'COMPLETED') {
        yield* this.end(row);
        return;
      }
      // A change that arrived during the read must be handled before the end.
      if (this.source.isClosed && this.source.version === version) return;
      await this.source.changed(version, this);
    }
  }

  private async *newParts(row: StatusRow): AsyncGenerator<MessageEvent[]> {
    const { seen } = this;
    const { attempt } = row;
    if (seen !== undefined && 'at' in seen && seen.attempt === attempt) return;
    if (this.read?.attempt !== attempt) yield* this.begin(row);
    while (!this.isClosed) {
      const place = this.read!;
      const rows = await this.source.after(place);
      if (rows === 'gone') {
        if (place.index === 0) return;
        yield* this.begin(row);
        continue;
      }
      if (rows.length === 0) break;
      const events = rows.flatMap(({ index, delta: part }) => {
        const shown = this.show(part);
        return shown === undefined ? [] : [outputEvent(attempt, index, shown)];
      });
      this.read = { attempt, index: rows.at(-1)!.index + 1 };
      if (events.length === 0) continue;
      this.seen = this.read;
      yield events;
    }
  }

  /** Begins with the first part of an attempt. A reader that was sent a part gets a reset if it needs one. */
  private *begin(row: StatusRow): Generator<MessageEvent[]> {
    const { attempt } = row;
    this.read = { attempt, index: 0 };
    if (this.seen === undefined) return;
    this.seen = this.read;
    if (this.endsWithAttempt?.() !== false) yield [resetEvent(row)];
  }

  private async *end(row: StatusRow): AsyncGenerator<MessageEvent[]> {
    const success = row.outcome === 'succeeded';
    const { attempt } = row;
    const isShown = this.seen !== undefined && ('at' in this.seen || this.seen.index > 0);
    if (success && !isShown) {
      const data = `{"index":0,"delta":${await this.whole()}}`;
      yield [{ type: 'output', id: idOf({ attempt, at: 'whole' }), data }];
    }
    yield [{ type: 'done', id: idOf({ attempt, at: 'done' }), data: JSON.stringify({ success }) }];
  }
}

function resetEvent(row: StatusRow): MessageEvent {
  const id = idOf({ attempt: row.attempt, index: 0 });
  return { type: 'reset', id, data: JSON.stringify({ attempt: attemptOf(row) }) };
}

/** The event's id is the position after it. */
function outputEvent(attempt: number, index: number, delta: string): MessageEvent {
  return {
    type: 'output',
    id: idOf({ attempt, index: index + 1 }),
    data: `{"index":${index},"delta":${delta}}`,
  };
}

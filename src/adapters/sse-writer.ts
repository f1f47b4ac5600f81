import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable, Subscription } from 'rxjs';
import { DomainError } from '../errors/domain-error.js';
import { writeInPieces } from '../http/in-pieces.js';

/** The errors of a stream that has ended before its output. */
export const streamEndErrors = {
  reset: () =>
    new DomainError(
      'model_unavailable',
      "The model's answer broke off after a part of it was sent. Discard the part and send the call again.",
    ),
  cut: () =>
    new DomainError(
      'unavailable',
      'The stream was ended before the answer was complete. Send the call again.',
    ),
};

/** How the reading of an output has ended. */
export interface StreamEnd {
  /** `reset`: the attempt has ended after parts of it were sent. `cut`: the service or the client has ended the stream. */
  kind: 'done' | 'reset' | 'cut';
  /** The output as JSON text, if it came in one piece. */
  whole: string | undefined;
}

/** The data of an event, or its type and its data. Line ends in the data, which is JSON text, mean nothing. */
export type SentEvent = string | { event: string; data: string };

export const lengthOf = (event: SentEvent): number =>
  typeof event === 'string' ? event.length : event.data.length;

/**
 * Writes server-sent events that have `data` and perhaps a type, in the format of SSE. The head is sent with the first
 * event, so that an error before it can still get its own status.
 */
export class SseWriter {
  constructor(private readonly response: Response) {}

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  /**
   * Writes the parts of an output as they come. Events come no faster than the client reads. `eventsOf`: the events of a
   * part, which is JSON text. Rejects if they throw.
   */
  async follow(
    events: Observable<MessageEvent>,
    eventsOf: (part: string) => readonly SentEvent[],
  ): Promise<StreamEnd> {
    const end: StreamEnd = { kind: 'cut', whole: undefined };
    let reading: Subscription | undefined;
    const take = ({ type, id, data }: MessageEvent): void => {
      if (type === undefined) this.write(': keep-alive\n\n');
      else if (type === 'output' && id?.endsWith('.whole') === true) end.whole = deltaOf(data);
      else if (type === 'output') for (const one of eventsOf(deltaOf(data))) this.send(one);
      else end.kind = type === 'reset' ? 'reset' : 'done';
    };
    try {
      await new Promise<void>((resolve, reject) => {
        reading = events.subscribe({
          next: (message) => {
            // RxJS would throw an error of its reader where nothing catches it.
            try {
              take(message);
            } catch (cause) {
              reject(new Error('a part of an output cannot be read', { cause }));
            }
            if (end.kind === 'reset') resolve();
          },
          error: () => resolve(),
          complete: resolve,
        });
        this.response.once('close', resolve);
        if (this.response.destroyed) resolve();
      });
    } finally {
      reading?.unsubscribe();
    }
    return end;
  }

  /** Sends the head before the first event. An error after it has no status of its own. */
  begin(): void {
    this.writeHead();
    this.response.flushHeaders();
  }

  send(event: SentEvent): void {
    const [head, data] = typeof event === 'string' ? ['', event] : [`event: ${event.event}\n`, event.data];
    // A line end would end the event.
    this.write(`${head}data: ${data.replace(/[\r\n]+/g, ' ')}\n\n`);
  }

  end(): void {
    this.response.end();
  }

  /** Breaks the stream after its last event, for clients that know no event for an error. */
  break(): void {
    setImmediate(() => this.response.destroy());
  }

  private write(text: string): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    if (!this.hasBegun) this.writeHead();
    response.write(text);
  }

  private writeHead(): void {
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    writeInPieces(this.response);
  }
}

/** Returns the delta in the data of an event, `{"index":0,"delta":…}`, as it was sent. */
function deltaOf(data: MessageEvent['data']): string {
  const [text, name] = [data as string, '"delta":'];
  return text.slice(text.indexOf(name) + name.length, -1);
}

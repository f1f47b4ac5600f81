import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import { writeInPieces } from '../../http/in-pieces.js';
import type { Chunks } from './chunks.js';

/** How the reading of an output has ended. */
export interface StreamEnd {
  /** `reset`: another attempt has begun after parts of the one before. `cut`: the service or the client has ended it. */
  kind: 'done' | 'reset' | 'cut';
  /** The output as JSON text, if it came in one piece. */
  whole: string | undefined;
}

/** Writes server-sent events as OpenAI does: `data` alone. The head is sent with the first event. */
export class EventWriter {
  constructor(private readonly response: Response) {
    writeInPieces(response);
  }

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  /** Writes the parts of an output as they come. Events come no faster than the client reads. */
  async follow(events: Observable<MessageEvent>, chunks: Chunks): Promise<StreamEnd> {
    const end: StreamEnd = { kind: 'cut', whole: undefined };
    await new Promise<void>((resolve) => {
      const reading = events.subscribe({
        next: ({ type, id, data }) => {
          if (type === undefined) this.write(': keep-alive\n\n');
          else if (type === 'output' && String(id).endsWith('.whole')) end.whole = deltaOf(String(data));
          else if (type === 'output') for (const chunk of chunks.part(deltaOf(String(data)))) this.send(chunk);
          else end.kind = type === 'reset' ? 'reset' : 'done';
          if (end.kind === 'reset') resolve();
        },
        error: () => resolve(),
        complete: resolve,
      });
      this.response.once('close', resolve).once('close', () => reading.unsubscribe());
      if (this.response.destroyed) resolve();
    });
    return end;
  }

  send(data: string): void {
    this.write(`data: ${data}\n\n`);
  }

  end(): void {
    this.response.end();
  }

  private write(text: string): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    if (!this.hasBegun) {
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
      });
    }
    response.write(text);
  }
}

/** The part of an event's data, `{"index":0,"delta":…}`, as it was sent. */
function deltaOf(data: string): string {
  const name = '"delta":';
  return data.slice(data.indexOf(name) + name.length, -1);
}

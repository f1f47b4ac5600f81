import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { drained } from '../http/in-pieces.js';

export interface Pulled {
  events: AsyncIterable<MessageEvent[]>;
  /** Ends them. */
  close: () => void;
}

/**
 * Asks for the next events only once the client has read those before: one that does not read costs what it was sent
 * last. `open` is called for a client that is still there.
 */
export function pulled(open: () => Pulled, response: ServerResponse): Observable<MessageEvent> {
  return new Observable((subscriber) => {
    const { events, close } = open();
    void pump(events, response, subscriber);
    return close;
  });
}

async function pump(
  events: AsyncIterable<MessageEvent[]>,
  response: ServerResponse,
  subscriber: Subscriber<MessageEvent>,
): Promise<void> {
  try {
    for await (const some of events) {
      for (const event of some) subscriber.next(event);
      // What was handed over is written in the turns to come.
      do {
        if (response.writableNeedDrain) await drained(response);
        await nextTurn();
      } while (response.writableNeedDrain && !subscriber.closed);
      if (subscriber.closed) return;
    }
  } catch {
    // The database went away in mid-stream. Closing makes the client come back with its Last-Event-ID.
  }
  subscriber.complete();
}

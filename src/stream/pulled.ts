import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { drained } from '../http/in-pieces.js';

export interface Pulled {
  events: AsyncIterable<MessageEvent[]>;
  /** Ends the events. */
  close: () => void;
}

/**
 * Requests the next events only when the client has read the previous ones. A client that does not read costs only the
 * events sent last. `open` is called on subscription.
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
      // Events are written in later turns of the event loop.
      do {
        if (response.writableNeedDrain) await drained(response);
        await nextTurn();
      } while (response.writableNeedDrain && !subscriber.closed);
      if (subscriber.closed) return;
    }
  } catch {
    // The database failed during the stream. After the close, the client reconnects with its Last-Event-ID.
  }
  subscriber.complete();
}

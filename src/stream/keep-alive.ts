import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { type MonoTypeOperatorFunction, Observable, interval, share } from 'rxjs';

/** Proxies drop connections that are silent for longer. */
const keepAliveMs = 15_000;
/** A client that has read nothing for so many beats is gone for us. */
const patienceBeats = 4;

const beats = interval(keepAliveMs).pipe(share());

/** Adds a comment line every 15 s, and drops a client that has stopped reading. */
export function keepAlive(response: Response): MonoTypeOperatorFunction<MessageEvent> {
  return (messages) =>
    new Observable((subscriber) => {
      let stuckBeats = 0;
      subscriber.add(
        beats.subscribe(() => {
          stuckBeats = response.writableNeedDrain ? stuckBeats + 1 : 0;
          if (stuckBeats >= patienceBeats) response.destroy();
          else if (stuckBeats === 0) subscriber.next({ comment: 'keep-alive' });
        }),
      );
      subscriber.add(messages.subscribe(subscriber));
    });
}

import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { type MonoTypeOperatorFunction, Observable, type Subscription, interval } from 'rxjs';

/** Proxies drop connections that are silent for longer. */
const keepAliveMs = 15_000;
/** A client that reads nothing for this many beats is dropped. */
const patienceBeats = 4;

/** All streams share one timer, so that each costs an entry in a set instead of a subscription. */
const streams = new Set<() => void>();
let beats: Subscription | undefined;

/** Adds a comment line every 15 s, and drops a client that has stopped reading. */
export function keepAlive(response: Response): MonoTypeOperatorFunction<MessageEvent> {
  return (messages) =>
    new Observable((subscriber) => {
      let stuckBeats = 0;
      const beat = (): void => {
        stuckBeats = response.writableNeedDrain ? stuckBeats + 1 : 0;
        if (stuckBeats >= patienceBeats) response.destroy();
        else if (stuckBeats === 0) subscriber.next({ comment: 'keep-alive' });
      };
      streams.add(beat);
      beats ??= interval(keepAliveMs).subscribe(() => streams.forEach((stream) => stream()));
      messages.subscribe(subscriber);
      return () => {
        streams.delete(beat);
        if (streams.size > 0) return;
        beats?.unsubscribe();
        beats = undefined;
      };
    });
}

import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { type MonoTypeOperatorFunction, Observable, type Subscription, interval } from 'rxjs';

/** Proxies drop connections that are silent for longer. */
const keepAliveMs = 15_000;
/** A client that reads nothing for this many ticks is dropped. */
const patienceTicks = 4;

/** All streams share one timer, so that each costs an entry in a set instead of a subscription. */
const streams = new Set<() => void>();
let ticks: Subscription | undefined;

/** Adds a comment line every 15 s, and drops a client that has stopped reading. */
export function keepAlive(response: Response): MonoTypeOperatorFunction<MessageEvent> {
  return (messages) =>
    new Observable((subscriber) => {
      let stuckTicks = 0;
      const tick = (): void => {
        stuckTicks = response.writableNeedDrain ? stuckTicks + 1 : 0;
        if (stuckTicks >= patienceTicks) response.destroy();
        else if (stuckTicks === 0) subscriber.next({ comment: 'keep-alive' });
      };
      streams.add(tick);
      ticks ??= interval(keepAliveMs).subscribe(() => streams.forEach((stream) => stream()));
      messages.subscribe(subscriber);
      return () => {
        streams.delete(tick);
        if (streams.size > 0) return;
        ticks?.unsubscribe();
        ticks = undefined;
      };
    });
}

import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { type MonoTypeOperatorFunction, Observable, type Subscription, interval } from 'rxjs';

/** Proxies drop connections that are silent for longer. */
const keepAliveMs = 15_000;

/** All streams share one timer, so that each costs an entry in a set instead of a subscription. */
const streams = new Set<() => void>();
let ticks: Subscription | undefined;

/**
 * Adds a comment line every 15 s, unless the client has not read what was sent before. `HttpConnections` closes the
 * connection of a client that reads too slowly.
 */
export function keepAlive(response: Response): MonoTypeOperatorFunction<MessageEvent> {
  return (messages) =>
    new Observable((subscriber) => {
      const tick = (): void => {
        if (!response.writableNeedDrain) subscriber.next({ comment: 'keep-alive' });
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

import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import {
  type MonoTypeOperatorFunction,
  Observable,
  type Subscriber,
  type Subscription,
  interval,
} from 'rxjs';

/** Proxies drop connections that are silent for longer. */
const keepAliveMs = 15_000;
/** A client that has read nothing for so many beats is gone for us. */
const patienceBeats = 4;

/** One beat for all streams, each of which costs it a place in a set and no subscription. */
const streams = new Set<KeptAlive>();
let beats: Subscription | undefined;

/** Adds a comment line every 15 s, and drops a client that has stopped reading. */
export function keepAlive(response: Response): MonoTypeOperatorFunction<MessageEvent> {
  return (messages) =>
    new Observable((subscriber) => {
      subscriber.add(new KeptAlive(response, subscriber));
      subscriber.add(messages.subscribe(subscriber));
    });
}

class KeptAlive {
  private stuckBeats = 0;

  constructor(
    private readonly response: Response,
    private readonly subscriber: Subscriber<MessageEvent>,
  ) {
    streams.add(this);
    beats ??= interval(keepAliveMs).subscribe(() => {
      for (const stream of streams) stream.beat();
    });
  }

  unsubscribe(): void {
    streams.delete(this);
    if (streams.size > 0) return;
    beats?.unsubscribe();
    beats = undefined;
  }

  private beat(): void {
    this.stuckBeats = this.response.writableNeedDrain ? this.stuckBeats + 1 : 0;
    if (this.stuckBeats >= patienceBeats) this.response.destroy();
    else if (this.stuckBeats === 0) this.subscriber.next({ comment: 'keep-alive' });
  }
}

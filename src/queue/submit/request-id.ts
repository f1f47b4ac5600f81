import { Injectable } from '@nestjs/common';
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import { Clock } from '../../database/clock.js';

/** True for a UUIDv7 in lower case; no other text is the id of a request. */
export const isRequestId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text);

const idBytes = 16;
/** Drawing random bytes for this many ids at once costs as much as for one. */
const idsPerDraw = 256;
/** Each heartbeat measures the database's clock again, so the known time may fall by as much as an answer is late. */
const inaccuracyMs = 1_000;

/** Makes ids whose time is the database's, because the id decides which day's partition a row is in. */
@Injectable()
export class RequestIds {
  private readonly random = new Uint8Array(idBytes * idsPerDraw);
  private used = this.random.length;
  private lastMs = 0;

  constructor(private readonly clock: Clock) {}

  next(): string {
    if (this.used === this.random.length) {
      randomFillSync(this.random);
      this.used = 0;
    }
    const random = this.random.subarray(this.used, (this.used += idBytes));
    const now = this.clock.now();
    // If the clock is set back a little, the times of this node's ids do not go back, because lists are in their order.
    if (now > this.lastMs || now < this.lastMs - inaccuracyMs) this.lastMs = now;
    return v7({ msecs: this.lastMs, random });
  }
}

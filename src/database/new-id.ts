import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import { clock } from './clock.js';

let lastMs = 0;
let count = 0;

/** Returns a UUIDv7 with the time of the database's clock. Ids that a process makes in one millisecond are in order. */
export function newId(): string {
  const nowMs = clock.now();
  count = nowMs === lastMs ? count + 1 : randomInt(2 ** 31);
  lastMs = nowMs;
  return v7({ msecs: nowMs, seq: count });
}

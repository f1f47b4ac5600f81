import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { Clock } from '../database/clock.js';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUIDv7 in lower case; anything else names no request. */
export function isRequestId(text: string): boolean {
  return uuidV7.test(text);
}

/** Makes ids whose time is the database's, because the id decides which day's partition a row is in. */
@Injectable()
export class RequestIds {
  constructor(private readonly clock: Clock) {}

  next(): string {
    return v7({ msecs: this.clock.now() });
  }
}

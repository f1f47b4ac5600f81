import { Injectable } from '@nestjs/common';

/**
 * The database's clock, which all times that leave the service are of. Ids and deadlines of all nodes agree, even if
 * the clocks of their machines differ or are set meanwhile.
 */
@Injectable()
export class Clock {
  /** The time at which `performance.now()` was 0. Until the database's time is known, it is by this machine's clock. */
  private originMs = Date.now() - performance.now();

  /** Milliseconds since 1970, by the database's clock. */
  now(): number {
    return Math.floor(this.originMs + performance.now());
  }

  /** The milliseconds by which this machine's clock is ahead of the database's. */
  get skewMs(): number {
    return Date.now() - this.now();
  }

  /** Sets the database's time. `atMs`: the `performance.now()` at which the database read it, as far as it is known. */
  set(databaseMs: number, atMs: number): void {
    this.originMs = databaseMs - atMs;
  }
}

/** The clock of this process, for code that Nest does not inject into. Heartbeats set it; a command, once connected. */
export const clock = new Clock();

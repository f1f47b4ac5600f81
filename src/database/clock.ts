import { Injectable } from '@nestjs/common';

/** The database's clock, so that ids and deadlines of all nodes agree whatever their own clocks say. */
@Injectable()
export class Clock {
  private offsetMs = 0;

  /** Milliseconds since 1970 by the database's clock. */
  now(): number {
    return Date.now() + this.offsetMs;
  }

  /** Called with the database's time, fresh from a heartbeat; half a round trip does not matter here. */
  setNow(databaseNowMs: number): void {
    this.offsetMs = Math.round(databaseNowMs - Date.now());
  }
}

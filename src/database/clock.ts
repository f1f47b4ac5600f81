import { Injectable } from '@nestjs/common';

/** The database's clock. Ids and deadlines of all nodes agree, even if the nodes' own clocks differ. */
@Injectable()
export class Clock {
  private offsetMs = 0;

  /** Milliseconds since 1970, by the database's clock. */
  now(): number {
    return Date.now() + this.offsetMs;
  }

  /** Called with the database's time from a heartbeat. An error of half a round trip does not matter here. */
  setNow(databaseNowMs: number): void {
    this.offsetMs = Math.round(databaseNowMs - Date.now());
  }
}

import { Injectable } from '@nestjs/common';
import { Database, type Statement } from './database.js';

const readClock: Statement = {
  name: 'read_clock',
  text: `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`,
};

/** The database's clock, so that ids and deadlines of all nodes agree whatever their own clocks say. */
@Injectable()
export class Clock {
  private offsetMs = 0;

  constructor(private readonly database: Database) {}

  /** Milliseconds since 1970 by the database's clock. */
  now(): number {
    return Date.now() + this.offsetMs;
  }

  /** Measures how far this process's clock is off. Called at the start and with every heartbeat. */
  async synchronise(): Promise<void> {
    const before = Date.now();
    const [row] = await this.database.query<{ now: number }>(readClock);
    const after = Date.now();
    this.offsetMs = Math.round(row!.now - (before + after) / 2);
  }
}

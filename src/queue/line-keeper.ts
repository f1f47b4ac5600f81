import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Lines } from './lines.js';
import { waiting } from './queries/waiting.js';
import { QueueEvents } from './queue-events.js';

/** Keeps the lines in memory in step with the database: fills them, then follows every change. */
@Injectable()
export class LineKeeper {
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly database: Database,
    private readonly lines: Lines,
    private readonly events: QueueEvents,
  ) {}

  /** Changes are followed before the first page is read, so nothing falls between. */
  async start(): Promise<void> {
    this.unsubscribe ??= this.events.subscribe(({ entered, left }) => {
      for (const change of entered ?? []) this.lines.enter(change);
      for (const change of left ?? []) this.lines.leave(change);
    });
    await this.refill();
  }

  stop(): void {
    this.unsubscribe?.();
    this.unsubscribe = undefined;
  }

  async refill(): Promise<void> {
    for await (const page of waiting(this.database)) {
      for (const entry of page) this.lines.enter(entry);
    }
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { Batcher } from '../tools/batcher.js';
import { appendLog, type LogLine } from './queries/append-log.js';
import { finish } from './queries/finish.js';
import { readStatus } from './queries/read-status.js';
import { QueueEvents } from './queue-events.js';
import { toCompleted, type RunFinish } from './runs/finish-of.js';
import type { StatusRow } from './status-row.js';

const isolate = (error: unknown): boolean => !isDatabaseUnavailable(error);
const maxWeight = 1024 * 1024;

/** The statements that many callers share: what arrives while one is under way goes together in the next. */
@Injectable()
export class SharedStatements {
  private readonly finishes: Batcher<RunFinish, boolean>;
  private readonly logLines: Batcher<LogLine[], void>;
  private readonly statuses: Batcher<string, StatusRow | undefined>;

  constructor(database: Database, events: QueueEvents) {
    this.finishes = new Batcher(
      async (items) => {
        const ended = await finish(database, items);
        // Also what was not ended here: the answer to a first try may have been lost on the way.
        events.publish({ changed: items.map(({ requestId }) => requestId) });
        events.emit('request.completed', () => items.filter((_, i) => ended[i]).map(toCompleted));
        return ended;
      },
      { maxItems: 512, maxWeight, weigh: ({ output }) => output?.length ?? 0, writers: 3, isolate },
    );
    this.logLines = new Batcher(
      async (logs) => {
        await appendLog(database, logs.flat());
        return logs.map(() => undefined);
      },
      { maxItems: 64, maxWeight, weigh: weightOf, isolate },
    );
    const reading = database.pipeline();
    this.statuses = new Batcher((ids) => readStatus(reading, ids), {
      maxItems: 256,
      writers: 3,
      earlyItems: 16,
      itemsBehind: 8,
      isolate,
    });
  }

  /** Whether the run still held its lease. Publishes it. */
  finish(item: RunFinish): Promise<boolean> {
    return this.finishes.add(item);
  }

  /** Lines of one run. */
  appendLog(lines: LogLine[]): Promise<void> {
    return this.logLines.add(lines);
  }

  readStatus(id: string): Promise<StatusRow | undefined> {
    return this.statuses.add(id);
  }
}

function weightOf(lines: LogLine[]): number {
  return lines.reduce((sum, { message }) => sum + message.length, 0);
}

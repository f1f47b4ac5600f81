import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Batcher } from '../../tools/batcher.js';
import { type Appended, appendEvents, type EventBatch } from './queries/append-events.js';
import { readOutputOf } from '../reads/queries/read-output.js';
import { type OutputRows, QueueEvents } from '../queue-events.js';
import { outputOf } from './event-buffer.js';
import { deltasEveryMs, EventWriter } from './event-writer.js';
import { inRounds } from '../../tools/in-rounds.js';
import { persist } from '../../database/persist.js';
import { UnstoredResults } from './unstored-results.js';
import { Rhythm } from './rhythm.js';

const maxWeight = 1024 * 1024;
const requestIdOf = ({ requestId }: EventBatch): string => requestId;
const sum = (lengths: number[]): number => lengths.reduce((total, length) => total + length, 0);
const lengthOf = ({ logs, deltas }: EventBatch): number =>
  sum(logs.map(({ message }) => message.length)) + sum(deltas.map(({ length }) => length));

/** Writes what runs emit, of this node and of workers: one commit for all, published after it. */
@Injectable()
export class RunEvents {
  private readonly log = new Logger(RunEvents.name);
  private readonly rhythm = new Rhythm(deltasEveryMs);
  private readonly batches: Batcher<EventBatch, Appended | undefined>;

  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
    private readonly unstored: UnstoredResults,
  ) {
    this.batches = new Batcher((batches) => this.write(batches), {
      maxItems: 512,
      maxWeight,
      weigh: lengthOf,
    });
  }

  /** undefined: the run holds no lease. The batch was applied, now or before, if `next` is behind its last event. */
  append(batch: EventBatch): Promise<Appended | undefined> {
    return this.batches.add(batch);
  }

  /** Returns the writer of a run of this node. `onLost`: called when a write shows that the run holds no lease. */
  writer(run: Pick<EventBatch, 'requestId' | 'token'>, onLost: () => void): EventWriter {
    const write = async (batch: EventBatch): Promise<Appended | undefined> => {
      const appended = await persist(() => this.append(batch)).catch((error: Error) => {
        this.log.error(`the events of ${run.requestId} cannot be stored: ${error.message}`);
        throw error;
      });
      if (appended === undefined) onLost();
      return appended;
    };
    return new EventWriter(run, this.rhythm, write, this.unstored);
  }

  /**
   * Returns the output that the deltas of an attempt make; undefined: it emitted none. `attempt`: as the lease counts
   * it.
   */
  async joinedOutput(requestId: string, attempt: number): Promise<string | undefined> {
    return outputOf(await persist(() => readOutputOf(this.database, requestId, attempt)));
  }

  private async write(batches: EventBatch[]): Promise<(Appended | undefined)[]> {
    // A batch may be sent again while the first is in progress.
    const results = await inRounds(batches, requestIdOf, async (once) => {
      const appended = await appendEvents(this.database, once);
      return once.map(({ requestId }) => appended.get(requestId));
    });
    this.publish(batches, results);
    return results;
  }

  private publish(batches: EventBatch[], results: readonly (Appended | undefined)[]): void {
    const changed = new Set<string>();
    const output: OutputRows[] = [];
    for (const [i, batch] of batches.entries()) {
      const { requestId: id, from, count, logs, progress, deltas } = batch;
      if (logs.length > 0 || progress !== null) changed.add(id);
      const appended = results[i];
      if (deltas.length === 0 || appended === undefined) continue;
      const { attempt, next, nextIndex } = appended;
      // The index of what was written before is unknown, so readers read the table.
      if (next !== from + count) output.push({ id });
      else output.push({ id, rows: { attempt, first: nextIndex - deltas.length, deltas } });
    }
    this.events.publish({ changed: [...changed], output });
    this.events.emit('request.progressed', () =>
      batches
        .filter((_, i) => results[i] !== undefined)
        .map(({ requestId: id, progress, logs, deltas }) => {
          return { id, progress, hasLogs: logs.length > 0, hasOutput: deltas.length > 0 };
        }),
    );
  }
}

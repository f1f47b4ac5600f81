import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../database/database-error.js';
import { Batcher } from './batcher.js';
import { Scheduler } from './duties/scheduler.js';
import { submit, type Submission, type Submitted } from './queries/submit.js';
import { submitOnce, type OnceResult, type OnceSubmission } from './queries/submit-once.js';
import { QueueEvents } from './queue-events.js';

interface Written<T> {
  result: T;
  /** Resolves when the caller may hear of it. */
  answerable: Promise<unknown>;
}

/**
 * Writes requests and tells of them, so that no position rises after it was told. Submissions that overlap may
 * commit against the order of their seqs: each is told to the lines as soon as it is written, and answered when
 * those that were under way at that moment have been told too.
 */
@Injectable()
export class Submissions {
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly batches: Batcher<Submission, Written<Submitted>>;

  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
    private readonly scheduler: Scheduler,
  ) {
    this.batches = new Batcher((items) => this.submitAll(items), {
      maxItems: 128,
      maxWeight: 1024 * 1024,
      // The statement for many reads the inputs as one JSON array, which does not keep the space around its elements.
      weigh: ({ input }) => (isTrimmed(input) ? input.length : Infinity),
      writers: 2,
      isolate: (error) => !isDatabaseUnavailable(error),
    });
  }

  /** Resolves once the request is committed. */
  async submit(submission: Submission): Promise<void> {
    const { answerable } = await this.batches.add(submission);
    await answerable;
  }

  async submitOnce(submission: OnceSubmission): Promise<OnceResult> {
    const { result, answerable } = await this.write(
      () => submitOnce(this.database, submission),
      (written) => {
        if (written.kind === 'submitted') this.tell([submission], [written]);
      },
    );
    await answerable;
    return result;
  }

  private async submitAll(items: Submission[]): Promise<Written<Submitted>[]> {
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0 && this.scheduler.hasRoomNow(only.modelId)) {
      const { result, answerable } = await this.write(
        () => this.scheduler.submitAndStart(only),
        (written) => {
          if (written.token === null) this.tell(items, [written]);
        },
      );
      return [{ result, answerable }];
    }
    const { result, answerable } = await this.write(
      () => submit(this.database, items),
      (written) => this.tell(items, written),
    );
    return result.map((one) => ({ result: one, answerable }));
  }

  private async write<T>(statement: () => Promise<T>, tell: (result: T) => void): Promise<Written<T>> {
    const writing = statement();
    const ended = writing.then(tell, () => undefined);
    this.underWay.add(ended);
    await ended.finally(() => this.underWay.delete(ended));
    return { result: await writing, answerable: Promise.all(this.underWay) };
  }

  private tell(items: Submission[], seqs: { seq: number }[]): void {
    this.events.publish({
      entered: items.map(({ modelId, priority }, i) => ({
        modelId,
        priority,
        seq: seqs[i]!.seq,
        attempt: 0,
      })),
      work: [...new Set(items.map(({ modelId }) => modelId))],
    });
  }
}

/** An object without space around it. */
function isTrimmed(json: Buffer): boolean {
  return json[0] === 0x7b && json.at(-1) === 0x7d;
}

import { sleep } from '../clock.js';
import type { Starts } from '../model/run-log.js';
import type { Random } from '../random.js';
import type { Caller } from './caller.js';
import type { Entry } from './ledger.js';
import type { Submitter } from './submitter.js';

/**
 * Requests that each key keeps waiting. The first key has so many more that by arrival the others would get a third of
 * their share.
 */
const waitingEach = 5;
const waitingOfFirst = 120;
/** These times and the model's `concurrency` let every key have some fifty starts a minute. */
const runMs = { low: 300, high: 900 };
const lookEveryMs = 250;

/** A model, and the keys that always have work for it. */
export interface SharedModel {
  modelId: string;
  callers: readonly Caller[];
  starts: Starts;
}

/** Keeps requests of the keys waiting. */
export class BusyKeys {
  constructor(
    private readonly shared: SharedModel,
    private readonly submitter: Submitter,
    private readonly random: Random,
  ) {}

  async run(keepOn: () => boolean): Promise<void> {
    const [first, ...others] = this.shared.callers;
    await Promise.all([
      this.feed(first!, waitingOfFirst, keepOn),
      ...others.map((caller) => this.feed(caller, waitingEach, keepOn)),
    ]);
  }

  private async feed(caller: Caller, depth: number, keepOn: () => boolean): Promise<void> {
    let waiting: Entry[] = [];
    while (keepOn()) {
      waiting = waiting.filter(({ id }) => this.shared.starts.ofRequest(id).length === 0);
      const missing = Math.min(depth - waiting.length, 2 * waitingEach);
      const sent = await Promise.all(Array.from({ length: missing }, () => this.submit(caller)));
      waiting.push(...sent.filter((entry) => entry !== undefined));
      await sleep(lookEveryMs);
    }
  }

  private async submit(caller: Caller): Promise<Entry | undefined> {
    const ms = this.random.integer(runMs.low, runMs.high);
    const submission = this.submitter.plain(this.shared.modelId, caller, [{ do: 'answer', ms }]);
    return (await this.submitter.send(submission)).entry;
  }
}

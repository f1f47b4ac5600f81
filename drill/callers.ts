import { now, sleep, within } from '../chaos/clock.js';
import type { Service } from '../chaos/cluster/cluster.js';
import type { ApiClient } from '../chaos/load/api-client.js';
import type { Ledger } from '../chaos/load/ledger.js';
import { Poller } from '../chaos/load/poller.js';
import type { Submitter } from '../chaos/load/submitter.js';
import { planFor } from '../chaos/model/behaviour.js';
import type { Random } from '../chaos/random.js';

const submissionsPerSecond = 5;
/** Submissions of each model among twenty. A model whose runs take seconds has few, so that it catches up after failovers. */
const shares = {
  'chaos/fast': 10,
  'chaos/slow': 3,
  'chaos/single': 4,
  'chaos/tokens': 2,
  'chaos/followed': 1,
};
const models = Object.entries(shares).flatMap(([modelId, times]) => Array<string>(times).fill(modelId));

/** Callers that submit, most of them with an `Idempotency-Key` that lets them repeat a call, and poll. */
export class DrillCallers {
  private readonly poller: Poller;
  private isSubmitting = true;
  private isPolling = true;
  private active = 0;

  constructor(
    service: Service,
    client: ApiClient,
    private readonly submitter: Submitter,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {
    this.poller = new Poller(service, client, ledger, random.fork('poll'));
  }

  start(): void {
    void this.submitSteadily();
  }

  /** Submits nothing new, and waits until every caller has seen the end of its request. */
  async finish(patienceMs: number): Promise<void> {
    this.isSubmitting = false;
    if (!(await within(patienceMs, () => this.active === 0)))
      this.ledger.violate('every caller sees the end of its request', `${this.active} have not`);
    this.isPolling = false;
  }

  private async submitSteadily(): Promise<void> {
    while (this.isSubmitting) {
      this.active++;
      const from = now();
      void this.submitAndPoll()
        .catch((error: Error) => this.ledger.violate('the drill works', error.stack ?? error.message))
        .finally(() => this.active--);
      const dueMs = (-Math.log(1 - this.random.next()) * 1_000) / submissionsPerSecond;
      await sleep(Math.max(0, dueMs - (now() - from)));
    }
  }

  private async submitAndPoll(): Promise<void> {
    const modelId = this.random.pick(models);
    const entry = await this.submitter.submit(this.submitter.make(modelId, planFor(modelId, this.random)));
    if (entry !== undefined) await this.poller.poll(entry, () => this.isPolling);
  }
}

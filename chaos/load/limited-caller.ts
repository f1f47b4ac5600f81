import type { Cluster } from '../cluster/cluster.js';
import { sleep } from '../clock.js';
import type { Random } from '../random.js';
import type { ApiClient } from './api-client.js';
import type { Submitter } from './submitter.js';

/** Calls with one key far above its limits, on all nodes at once, and ignores Retry-After. */
export class LimitedCaller {
  private lastId: string | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly client: ApiClient,
    private readonly submitter: Submitter,
    private readonly random: Random,
  ) {}

  async run(keepOn: () => boolean): Promise<void> {
    while (keepOn()) {
      void this.submit();
      void this.look();
      await sleep(this.random.between(20, 160));
    }
  }

  private async submit(): Promise<void> {
    const { limited } = this.cluster.callers;
    const submission = this.submitter.plain('chaos/fast', limited, [{ do: 'answer', ms: 5 }]);
    this.lastId = (await this.submitter.send(submission)).entry?.id ?? this.lastId;
  }

  private async look(): Promise<void> {
    if (this.lastId === undefined) return;
    const node = this.random.pick(this.cluster.apiNodes);
    const { limited } = this.cluster.callers;
    await this.client.call(limited, node, 'GET', `requests/${this.lastId}/status`);
  }
}

import type { Cluster } from '../cluster/cluster.js';
import { sleep } from '../clock.js';
import type { Random } from '../random.js';
import type { ApiClient } from './api-client.js';
import type { Ledger } from './ledger.js';

/** Calls with one key far above its limits, on all nodes at once, and notes what was let through. */
export class LimitedCaller {
  private made = 0;
  private lastId: string | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly client: ApiClient,
    private readonly ledger: Ledger,
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
    const node = this.random.pick(this.cluster.apiNodes);
    const marker = `limited-${this.made++}`;
    const answer = await this.client.call(node, 'POST', 'chaos/fast', {
      key: this.cluster.keys.limited,
      body: { marker, plan: [{ do: 'answer', ms: 5 }] },
    });
    if (answer?.status !== 202) return;
    const { request_id: id } = answer.body as { request_id: string };
    this.ledger.admitted.submit.push(answer);
    this.ledger.accept({ id, modelId: 'chaos/fast', marker, heldBack: false });
    this.lastId = id;
  }

  private async look(): Promise<void> {
    if (this.lastId === undefined) return;
    const node = this.random.pick(this.cluster.apiNodes);
    const key = this.cluster.keys.limited;
    const answer = await this.client.call(node, 'GET', `requests/${this.lastId}/status`, { key });
    if (answer?.status === 200) this.ledger.admitted.other.push(answer);
  }
}

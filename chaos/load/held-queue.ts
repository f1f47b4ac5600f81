import type { Service } from '../cluster/cluster.js';
import { now, sleep, within } from '../clock.js';
import type { Random } from '../random.js';
import type { ApiClient } from './api-client.js';
import type { Entry, Ledger } from './ledger.js';
import type { Status } from './poller.js';
import type { Submitter } from './submitter.js';

const depth = 24;
/** After this time even a node that missed a message has compared its index with the database. */
const patienceMs = 45_000;
const answerMs = 10_000;

interface Disagreement {
  node: string;
  id: string;
  shown: number | undefined;
  true: number;
}

/** A queue whose positions are compared with those in the database. */
export interface AuditedQueue {
  /** How long after the last heal all nodes showed every position right. */
  readonly exactAfterMs: readonly number[];
  fill(): Promise<void>;
  /** Call it while nothing is broken. */
  audit(): Promise<void>;
}

/** The queue of a model that holds its runs. The queue does not move, so every position in it must be exact. */
export class HeldQueue implements AuditedQueue {
  readonly exactAfterMs: number[] = [];

  constructor(
    private readonly cluster: Service,
    private readonly client: ApiClient,
    private readonly submitter: Submitter,
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly modelId: string,
  ) {}

  /** Lengthens the queue, and cancels some requests in its middle. */
  async fill(): Promise<void> {
    const entries: Entry[] = [];
    for (let missing = depth - (await this.order()).length; missing > 0; missing--) {
      const entry = await this.submitter.submit(this.submitter.make(this.modelId, [{ do: 'hold' }]));
      if (entry !== undefined) entries.push(entry);
    }
    for (const entry of entries.filter(() => this.random.chance(0.15))) {
      const node = this.random.pick(this.cluster.apiNodes);
      await this.client.call(entry.caller, node, 'PUT', `requests/${entry.id}/cancel`);
    }
  }

  async audit(): Promise<void> {
    const from = now();
    let wrong = await this.compare();
    while (wrong.length > 0 && now() - from < patienceMs) {
      await sleep(250);
      wrong = await this.compare();
    }
    this.exactAfterMs.push(now() - from);
    if (wrong.length === 0) {
      await sleep(1_500);
      wrong = await this.compare();
    }
    if (wrong.length > 0) {
      this.ledger.violate(
        'positions are exact when nothing moves',
        JSON.stringify(wrong.slice(0, 5)),
        wrong[0]!.id,
      );
    }
  }

  private async compare(): Promise<Disagreement[]> {
    const before = await this.order();
    const wrong: Disagreement[] = [];
    for (const node of this.cluster.apiNodes) {
      const shown = await Promise.all(before.map((id) => this.positionOf(id, node)));
      for (const [position, id] of before.entries()) {
        if (shown[position] === position) continue;
        wrong.push({ node: node.name, id, shown: shown[position], true: position });
      }
    }
    const after = await this.order();
    // The queue moved during the comparison, so compare again.
    return before.join() === after.join() ? wrong : this.compare();
  }

  private async positionOf(id: string, node: Service['apiNodes'][number]): Promise<number | undefined> {
    let position: number | undefined;
    // A call that is refused or not answered is tried again.
    await within(answerMs, async () => {
      const caller = this.random.pick(this.cluster.callers.auditors);
      const answer = await this.client.call(caller, node, 'GET', `requests/${id}/status`);
      position = (answer?.body as Status | undefined)?.queue_position;
      return answer?.status === 200;
    });
    return position;
  }

  private async order(): Promise<string[]> {
    let rows: { id: string }[] | undefined;
    let error: unknown;
    const found = within(answerMs, async () => {
      rows = await this.read().catch((reason: unknown) => {
        error = reason;
        return undefined;
      });
      return rows !== undefined;
    });
    // After a failover HAProxy may end a session once more.
    if (!(await found)) throw error;
    return rows!.map(({ id }) => id);
  }

  private read(): Promise<{ id: string }[]> {
    return this.cluster.postgres.query<{ id: string }>(
      `SELECT request_id AS id
       FROM (SELECT model_id, priority, virtual_start, seq, request_id FROM queue_entry UNION ALL
             SELECT model_id, priority, virtual_start, seq, request_id FROM delayed_entry) AS waiting
       WHERE model_id = $1 ORDER BY priority, virtual_start, seq`,
      [this.modelId],
    );
  }
}

import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now, sleep, within } from '../clock.js';
import type { ModelServer } from '../model/model-server.js';
import type { Random } from '../random.js';
import { type Answer, isConclusive, type ApiClient } from './api-client.js';
import type { AuditedQueue } from './held-queue.js';
import type { Ledger } from './ledger.js';
import type { Status } from './poller.js';
import type { Submission, Submitter } from './submitter.js';

const modelId = 'chaos/deep';
const depth = 100_000;
/** Submissions of one call, and ids of one call about statuses. */
const batchSize = 1_000;
/** Requests whose positions are compared. */
const sampleSize = 800;
const batchPatienceMs = 90_000;
const stirEveryMs = 400;
const cancelsEveryMs = 2_000;
const maxCancels = 200;
const glanceEveryMs = 4_000;
/** Even a node that missed a message has then compared its index with the database. */
const patienceMs = 45_000;
/** Runs at once, the concurrency of the model: those of a lost node return to the front, where other requests then wait behind them. */
const maxReturned = 8;

/** All that wait for the model, with their positions. */
const ordered = `SELECT request_id AS id,
         (row_number() OVER (ORDER BY priority, virtual_start, seq) - 1)::integer AS position
  FROM (SELECT model_id, priority, virtual_start, seq, request_id FROM queue_entry UNION ALL
        SELECT model_id, priority, virtual_start, seq, request_id FROM delayed_entry) AS entry
  WHERE model_id = $1`;

/** Positions by request. A request that waits no more has none. */
type Positions = Map<string, number>;

/**
 * A very long queue. While faults are made, its first requests run and others are cancelled, and shown positions must
 * not be behind the true ones for long. Then nothing moves, and positions must be exact.
 */
export class DeepQueue implements AuditedQueue {
  readonly exactAfterMs: number[] = [];
  private isMoving = false;
  private moved: Promise<void> = Promise.resolve();
  private sample: readonly string[] = [];
  /** True positions of the sample, as they were read. */
  private history: { at: number; positions: Positions }[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly client: ApiClient,
    private readonly submitter: Submitter,
    private readonly model: ModelServer,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  /** Makes the queue as long as it has to be, and then lets it move. */
  async fill(): Promise<void> {
    const from = now();
    let order = await this.order();
    // Some of them start at once.
    for (let missing = depth + maxReturned - order.length; missing > 0; missing -= batchSize)
      await this.submitBatch(Math.min(missing, batchSize));
    this.ledger.count('seconds in which a deep queue was filled', Math.round((now() - from) / 1_000));
    order = await this.order();
    if (order.length < depth) this.ledger.violate('a deep queue is filled', `${order.length} wait`);
    this.ledger.count('requests that waited in a deep queue', order.length);
    const anywhere = this.random.shuffle(order.filter(() => this.random.chance((2 * sampleSize) / depth)));
    this.sample = [...new Set([...order.slice(0, 20), ...order.slice(-20), ...anywhere])].slice(
      0,
      sampleSize,
    );
    this.history = [{ at: now(), positions: await this.truth() }];
    this.isMoving = true;
    this.moved = this.move();
  }

  async audit(): Promise<void> {
    this.isMoving = false;
    await this.moved;
    const from = now();
    let wrong = await this.compare();
    while (wrong.length > 0 && now() - from < patienceMs) {
      await sleep(250);
      wrong = await this.compare();
    }
    this.exactAfterMs.push(now() - from);
    if (wrong.length > 0)
      this.ledger.violate(
        'positions are exact when nothing moves',
        `${wrong.length}: ${wrong.slice(0, 5).join()}`,
      );
  }

  /** Cancels all that wait. */
  async empty(): Promise<void> {
    const isEmpty = await within(3 * batchPatienceMs, async () => {
      const ids = (await this.order()).slice(0, 10_000);
      if (ids.length > 0) await this.cancel(ids);
      return ids.length === 0;
    });
    if (!isEmpty) this.ledger.violate('a deep queue can be cancelled', `${(await this.order()).length} wait`);
    this.model.release(modelId);
  }

  private async submitBatch(count: number): Promise<void> {
    const { deep } = this.cluster.callers;
    const submissions = Array.from({ length: count }, (): Submission => {
      const submission = this.submitter.plain(modelId, deep, [{ do: 'hold' }]);
      return { ...submission, idempotencyKey: `key-${submission.input.marker}` };
    });
    for (const { input } of submissions) this.ledger.send({ modelId, marker: input.marker, caller: deep });
    const requests = submissions.map(({ input, idempotencyKey }) => ({
      model_id: modelId,
      input,
      idempotency_key: idempotencyKey,
    }));
    await within(batchPatienceMs, async () => {
      const answer = await this.post('requests', { requests });
      if (answer?.status !== 200) return false;
      const { results } = answer.body as { results: { status: number; request_id?: string }[] };
      for (const [i, { request_id: id }] of results.entries()) {
        const { input, idempotencyKey } = submissions[i]!;
        if (id === undefined) continue;
        this.ledger.accept(id, { modelId, marker: input.marker, caller: deep }, idempotencyKey);
      }
      return results.every(({ status }) => status === 202);
    });
  }

  private async move(): Promise<void> {
    let cancelsAt = 0;
    let glanceAt = 0;
    while (this.isMoving) {
      try {
        this.model.release(modelId);
        if (now() > cancelsAt) {
          await this.cancel(await this.anyWaiting(this.random.integer(1, maxCancels)));
          cancelsAt = now() + cancelsEveryMs;
        }
        if (now() > glanceAt) {
          await this.glance();
          glanceAt = now() + glanceEveryMs;
        }
      } catch {
        // the database is away
      }
      await sleep(stirEveryMs);
    }
  }

  private async cancel(ids: readonly string[]): Promise<void> {
    const answer = await this.post('requests/cancel', { request_ids: ids });
    if (!isConclusive(answer)) return;
    const { cancelled, unknown } = answer.body as { cancelled?: number; unknown?: number };
    this.ledger.count('requests of a deep queue cancelled', cancelled ?? 0);
    if (answer.status !== 200 || unknown !== 0)
      this.ledger.violate('a cancel of many is answered by the table', JSON.stringify(answer.body));
  }

  /**
   * Nothing is submitted meanwhile, so positions fall. One that is shown is no less than the true one afterwards, and no
   * more than that of a moment ago.
   */
  private async glance(): Promise<void> {
    const node = this.random.pick(this.cluster.apiNodes);
    const shown = await this.shownBy(node);
    if (shown === undefined) return;
    const positions = await this.truth();
    this.history.push({ at: now(), positions });
    this.history = this.history.filter(
      ({ at }, i) => at > now() - patienceMs || i >= this.history.length - 2,
    );
    for (const [id, position] of shown) {
      const least = (positions.get(id) ?? 0) - maxReturned;
      const most = Math.max(...this.history.map((one) => one.positions.get(id) ?? 0)) + maxReturned;
      this.ledger.count('positions seen while a deep queue moved');
      if (position >= least && position <= most) continue;
      this.ledger.violate(
        'a position in a queue that moves is one of the last 45 s',
        `${node.name} shows ${position}, and not ${least} to ${most}`,
        id,
      );
    }
  }

  private async compare(): Promise<string[]> {
    const before = await this.truth();
    const wrong: string[] = [];
    for (const node of this.cluster.apiNodes) {
      const shown = await this.shownBy(node);
      for (const [id, position] of before) {
        const seen = shown?.get(id);
        if (seen !== position) wrong.push(`${node.name} shows ${seen}, and not ${position}, for ${id}`);
      }
    }
    const after = await this.truth();
    // The queue moved during the comparison, so compare again.
    const isStill = [...before].every(([id, position]) => after.get(id) === position);
    return isStill && before.size === after.size ? wrong : ['the queue moved'];
  }

  /** undefined: there was no answer. */
  private async shownBy(node: ServiceNode): Promise<Positions | undefined> {
    const answer = await this.post('requests/status', { request_ids: this.sample }, node);
    if (answer?.status !== 200) return undefined;
    const { results } = answer.body as { results: (Status | null)[] };
    return new Map(
      results.flatMap((status, i) =>
        status?.queue_position === undefined ? [] : [[this.sample[i]!, status.queue_position]],
      ),
    );
  }

  private async truth(): Promise<Positions> {
    const rows = await this.cluster.postgres.query<{ id: string; position: number }>(
      `SELECT id, position FROM (${ordered}) AS waiting WHERE id = ANY ($2::uuid[])`,
      [modelId, this.sample],
    );
    return new Map(rows.map(({ id, position }) => [id, position]));
  }

  private async order(): Promise<string[]> {
    const rows = await this.cluster.postgres.query<{ id: string }>(`${ordered} ORDER BY position`, [modelId]);
    return rows.map(({ id }) => id);
  }

  private async anyWaiting(count: number): Promise<string[]> {
    const rows = await this.cluster.postgres.query<{ id: string }>(
      'SELECT request_id AS id FROM queue_entry WHERE model_id = $1 ORDER BY random() LIMIT $2',
      [modelId, count],
    );
    return rows.map(({ id }) => id);
  }

  private post(
    path: string,
    body: object,
    node = this.random.pick(this.cluster.apiNodes),
  ): Promise<Answer | undefined> {
    return this.client.call(this.cluster.callers.deep, node, 'POST', path, { body });
  }
}

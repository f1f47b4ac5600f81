import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now, sleep } from '../clock.js';
import { planFor, type ChaosInput, type Step } from '../model/behaviour.js';
import type { Random } from '../random.js';
import type { Answer, ApiClient } from './api-client.js';
import type { Entry, Ledger } from './ledger.js';

/** How long a caller with an idempotency key goes on trying. */
const persistenceMs = 90_000;

const modelsByWeight = [
  ...Array<string>(6).fill('chaos/fast'),
  ...Array<string>(2).fill('chaos/slow'),
  ...Array<string>(3).fill('chaos/broken'),
  ...Array<string>(4).fill('chaos/single'),
  ...Array<string>(2).fill('chaos/impatient'),
];

export interface Submission {
  modelId: string;
  input: ChaosInput;
  key: string;
  idempotencyKey?: string;
}

/** Submits as careful callers do: with a key that makes a retry safe; and as careless ones do, without. */
export class Submitter {
  private made = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly client: ApiClient,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  /** One request of a drawn model. undefined: it was not acknowledged. */
  async submitOne(): Promise<Entry | undefined> {
    const { random } = this;
    const modelId = random.pick(modelsByWeight);
    const submission = this.make(modelId, planFor(modelId, random));
    const entry = await this.submit(submission);
    // Some callers repeat themselves later, on whatever node; some come with another body.
    if (entry !== undefined && submission.idempotencyKey !== undefined && random.chance(0.05)) {
      void this.repeat(submission, entry);
    }
    return entry;
  }

  /** The same, with a plan of the caller's. */
  make(modelId: string, plan: Step[]): Submission {
    const { random } = this;
    const marker = `m${this.made++}`;
    const submission: Submission = {
      modelId,
      input: { marker, plan },
      key: random.chance(0.8) ? this.cluster.keys.main : this.cluster.keys.second,
    };
    if (random.chance(0.75)) submission.idempotencyKey = `key-${marker}`;
    return submission;
  }

  async submit(submission: Submission): Promise<Entry | undefined> {
    const deadline = now() + persistenceMs;
    // Two at once with one key, as a proxy that retries would send them.
    const twice = submission.idempotencyKey !== undefined && this.random.chance(0.05);
    for (;;) {
      const tries = [this.send(submission), ...(twice ? [this.send(submission)] : [])];
      const entries = (await Promise.all(tries)).filter((entry) => entry !== undefined);
      if (entries.length > 0) return entries[0];
      if (submission.idempotencyKey === undefined || now() > deadline) break;
      await sleep(this.random.between(200, 1_000));
    }
    this.ledger.count('submissions given up without an acknowledgement');
    return undefined;
  }

  /** One try, on one node or on any. */
  async send(submission: Submission, node?: ServiceNode): Promise<Entry | undefined> {
    const answer = await this.post(submission, node);
    if (answer?.status !== 202) {
      if (answer !== undefined && answer.status !== 503) {
        this.ledger.violate(
          'a sound submission is accepted or asked to wait',
          `${answer.status} ${JSON.stringify(answer.body)}`,
        );
      }
      return undefined;
    }
    const { modelId, input, idempotencyKey } = submission;
    const { request_id: id } = answer.body as { request_id: string };
    const heldBack = input.plan[0]?.do === 'hold';
    return this.ledger.accept({ id, modelId, marker: input.marker, heldBack }, idempotencyKey);
  }

  private async repeat(submission: Submission, entry: Entry): Promise<void> {
    await sleep(this.random.between(0, 10_000));
    const other = this.random.chance(0.3);
    const input = other ? { ...submission.input, marker: 'another body' } : submission.input;
    const answer = await this.post({ ...submission, input });
    if (answer === undefined || answer.status === 503) return;
    const found = (answer.body as { request_id?: string }).request_id;
    const replayed = answer.headers.get('idempotent-replayed') === 'true';
    const sound = other ? answer.status === 422 : answer.status === 202 && found === entry.id && replayed;
    if (!sound) {
      const told = `${answer.status}, replayed: ${replayed}, ${JSON.stringify(answer.body)}`;
      this.ledger.violate('a repeated submission is answered as the first was', told, entry.id);
    }
    this.ledger.count('submissions repeated');
  }

  private post(
    { modelId, input, key, idempotencyKey }: Submission,
    node = this.random.pick(this.cluster.apiNodes),
  ): Promise<Answer | undefined> {
    return this.client.call(node, 'POST', modelId, {
      body: input,
      key,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
  }
}

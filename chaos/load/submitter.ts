import type { Service } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now, sleep } from '../clock.js';
import { planFor, type ChaosInput, type Step } from '../model/behaviour.js';
import type { WebhookReceiver } from '../model/webhook-receiver.js';
import type { Random } from '../random.js';
import { isConclusive, refusedForMs, type Answer, type ApiClient } from './api-client.js';
import type { Caller } from './caller.js';
import type { Entry, Ledger } from './ledger.js';

/** How long a caller with an idempotency key goes on trying. */
const persistenceMs = 90_000;

const modelsByWeight = [
  ...Array<string>(6).fill('chaos/fast'),
  ...Array<string>(2).fill('chaos/slow'),
  ...Array<string>(3).fill('chaos/broken'),
  ...Array<string>(4).fill('chaos/single'),
  ...Array<string>(2).fill('chaos/impatient'),
  ...Array<string>(2).fill('chaos/tokens'),
  'chaos/picture',
  ...Array<string>(2).fill('chaos/followed'),
  ...Array<string>(2).fill('chaos/loaded'),
  'chaos/swapped',
  'chaos/small',
  'chaos/poison',
  ...Array<string>(3).fill('chaos/work'),
  ...Array<string>(2).fill('chaos/story'),
  'chaos/drawing',
];

export interface Submission {
  modelId: string;
  input: ChaosInput;
  caller: Caller;
  idempotencyKey?: string;
  /** Options as written in the query. */
  options?: string;
}

export interface Submitted {
  /** undefined: the submission was not acknowledged. */
  entry?: Entry;
  /** How long the caller, which is over its limit, has to wait. */
  refusedForMs?: number;
}

/** Submits like careful callers, with a key that makes a retry safe, and like careless ones, without. */
export class Submitter {
  private made = 0;

  constructor(
    private readonly cluster: Service,
    private readonly client: ApiClient,
    private readonly ledger: Ledger,
    private readonly receiver: WebhookReceiver,
    private readonly random: Random,
  ) {}

  /** Submits one request of a drawn model. undefined: it was not acknowledged. */
  async submitOne(modelId = this.random.pick(modelsByWeight)): Promise<Entry | undefined> {
    const { random } = this;
    const submission = this.make(modelId, planFor(modelId, random));
    const entry = await this.submit(submission);
    // Some callers repeat a submission later, on any node, and some of them with another body.
    if (entry !== undefined && submission.idempotencyKey !== undefined && random.chance(0.05)) {
      void this.repeat(submission, entry);
    }
    return entry;
  }

  /** A submission of a regular caller, mostly with an Idempotency-Key. */
  make(modelId: string, plan: Step[]): Submission {
    const submission = this.plain(modelId, this.random.pick(this.cluster.callers.regular), plan);
    if (this.random.chance(0.75)) submission.idempotencyKey = `key-${submission.input.marker}`;
    submission.options = this.drawOptions();
    return submission;
  }

  private drawOptions(): string {
    const { random } = this;
    const options = new URLSearchParams();
    if (random.chance(0.4)) options.set('webhook', this.receiver.anyUrl());
    if (random.chance(0.3)) options.set('priority', random.pick(['high', 'low']));
    if (random.chance(0.1)) options.set('delay', `${random.integer(0, 3_000)}ms`);
    if (random.chance(0.2)) options.append('tag', `part:${random.integer(0, 9)}`);
    return options.toString();
  }

  /** A submission without an Idempotency-Key. */
  plain(modelId: string, caller: Caller, plan?: Step[]): Submission {
    const input = { marker: `m${this.made++}`, ...(plan === undefined ? {} : { plan }) };
    return { modelId, input, caller };
  }

  /**
   * A careful caller repeats the call after a 503 or a broken connection. After a refusal, which is certain, all
   * callers do.
   */
  async submit(submission: Submission): Promise<Entry | undefined> {
    const deadline = now() + persistenceMs;
    const { idempotencyKey } = submission;
    // Two calls at once with one key, as a proxy that retries sends them.
    const twice = idempotencyKey !== undefined && this.random.chance(0.05);
    while (now() < deadline) {
      const tries = [this.send(submission), ...(twice ? [this.send(submission)] : [])];
      const results = await Promise.all(tries);
      const entry = results.find((result) => result.entry !== undefined)?.entry;
      if (entry !== undefined) return entry;
      const waitMs = results[0]!.refusedForMs;
      if (waitMs === undefined && idempotencyKey === undefined) break;
      await sleep((waitMs ?? 0) + this.random.between(200, 1_000));
    }
    this.ledger.count('submissions given up without an acknowledgement');
    return undefined;
  }

  /** Makes one try, on the given node or on any. */
  async send(submission: Submission, node?: ServiceNode): Promise<Submitted> {
    const { modelId, input, caller, idempotencyKey } = submission;
    const sent = { modelId, marker: input.marker, caller };
    this.ledger.send(sent);
    const answer = await this.post(submission, node);
    if (answer?.status === 202) {
      const { request_id: id } = answer.body as { request_id: string };
      return { entry: this.ledger.accept(id, sent, idempotencyKey) };
    }
    const waitMs = refusedForMs(answer);
    if (waitMs !== undefined) return { refusedForMs: waitMs };
    if (isConclusive(answer)) {
      this.ledger.violate(
        'a sound submission is accepted or asked to wait',
        `${answer.status} ${JSON.stringify(answer.body)}`,
      );
    }
    return {};
  }

  private async repeat(submission: Submission, entry: Entry): Promise<void> {
    await sleep(this.random.between(0, 10_000));
    const other = this.random.chance(0.3);
    const input = other ? { ...submission.input, marker: 'another body' } : submission.input;
    const answer = await this.post({ ...submission, input });
    if (!isConclusive(answer)) return;
    const found = (answer.body as { request_id?: string }).request_id;
    const replayed = answer.headers['idempotent-replayed'] === 'true';
    const sound = other ? answer.status === 422 : answer.status === 202 && found === entry.id && replayed;
    if (!sound) {
      const detail = `${answer.status}, replayed: ${replayed}, ${JSON.stringify(answer.body)}`;
      this.ledger.violate('a repeated submission is answered as the first was', detail, entry.id);
    }
    this.ledger.count('submissions repeated');
  }

  private post(
    { modelId, input, caller, idempotencyKey, options = '' }: Submission,
    node = this.random.pick(this.cluster.apiNodes),
  ): Promise<Answer | undefined> {
    return this.client.call(caller, node, 'POST', options === '' ? modelId : `${modelId}?${options}`, {
      body: input,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
  }
}

import { Injectable } from '@nestjs/common';
import { AddressRule } from '../addresses/address-rule.js';
import { Config } from '../config/config.js';
import { Clock } from '../database/clock.js';
import { storedContext } from '../tracing/trace-context.js';
import { type Ending, Tracing } from '../tracing/tracing.js';
import { noAnswer, type PostResult, Posts } from './post.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';
import type { Tried } from './queries/record-tries.js';
import { verdictOn } from './retry-plan.js';
import { SendingTerms } from './sending-terms.js';
import { sign } from './signature.js';
import { WebhookBodies } from './webhook-bodies.js';
import { batchCompletedType, findEvent } from './webhook-events.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Makes one try of a delivery: builds its body as of now, signs it, sends it and judges the answer. */
@Injectable()
export class WebhookClient {
  private readonly posts = new Posts();

  constructor(
    private readonly config: Config,
    private readonly secrets: WebhookSecrets,
    private readonly bodies: WebhookBodies,
    private readonly rule: AddressRule,
    private readonly terms: SendingTerms,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /** Ends the calls under way with the error `stopped`. */
  stop(): void {
    this.posts.stop();
  }

  /** Rejects if the delivery cannot be tried at all, such as without a database. */
  async makeTry(delivery: ClaimedDelivery): Promise<Tried> {
    const { requestId, deliveryId, step } = delivery;
    const [startedAt, at] = [performance.now(), new Date(this.clock.now()).toISOString()];
    // If retention has deleted the request or the batch, there is nothing left to send.
    const sent = await this.send(delivery);
    const result = sent ?? noAnswer('What it is about was deleted.');
    const verdict =
      sent === undefined
        ? { state: 'ended' as const, step, nextInMs: 0 }
        : verdictOn(result, step, this.terms, this.clock.now());
    const { status, body, error } = result;
    const duration_ms = Math.round(performance.now() - startedAt);
    return { requestId, deliveryId, ...verdict, entry: { at, status, duration_ms, body, error } };
  }

  /** undefined: what it is about was deleted. */
  private async send(delivery: ClaimedDelivery): Promise<PostResult | undefined> {
    const { deliveryId: id, event: type, url: text, signedFor, isGone } = delivery;
    const isOfBatch = type === batchCompletedType;
    if (isGone && !isOfBatch) return undefined;
    const refusal = this.rule.refusalOf(text);
    if (refusal !== undefined) return noAnswer(`The URL is no longer called: it ${refusal}.`);
    const { publicBaseUrl } = this.config;
    const event = findEvent(type);
    if (event === undefined && !isOfBatch)
      return noAnswer(`Only a node of a later release can send ${type}.`);
    const body =
      event === undefined
        ? await this.bodies.batch(delivery, publicBaseUrl)
        : event.body(this.bodies, delivery, publicBaseUrl ?? delivery.baseUrl ?? '');
    if (body === undefined) return undefined;
    const timestampS = Math.floor(this.clock.now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'nowserving',
      'webhook-id': id,
      'webhook-timestamp': String(timestampS),
      'webhook-signature': sign({ id, timestampS, body }, await this.secrets.secretsOf(signedFor)),
    };
    const { timeoutMs } = this.terms;
    const call = this.tracing.call(text, storedContext(delivery));
    const sent = { ...headers, ...call.context };
    const lookup = this.rule.lookupFor(new URL(text));
    const result = await this.posts.post({ url: text, headers: sent, body, lookup }, timeoutMs);
    call.end(endingOf(result));
    return result;
  }
}

function endingOf({ status }: PostResult): Ending {
  if (status === null) return { error: 'no_answer' };
  const isTaken = status >= 200 && status <= 299;
  return { attributes: { 'http.response.status_code': status }, ...(!isTaken && { error: String(status) }) };
}

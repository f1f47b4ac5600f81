import { Injectable } from '@nestjs/common';
import { AddressRule } from '../addresses/address-rule.js';
import { Config } from '../config/config.js';
import { Clock } from '../database/clock.js';
import { falWebhookBody } from '../fal/fal-webhook.js';
import { QueueService } from '../queue/queue.service.js';
import { toStatus } from '../requests/status-view.js';
import { type PostResult, Posts } from './post.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';
import type { Tried } from './queries/record-tries.js';
import { verdictOn } from './retry-plan.js';
import { SendingTerms } from './sending-terms.js';
import { sign } from './signature.js';
import { payloadErrorOf, webhookBody } from './webhook-body.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Makes one try of a delivery: its body as of now, signed, sent, and what follows from the answer. */
@Injectable()
export class Courier {
  private readonly posts = new Posts();

  constructor(
    private readonly config: Config,
    private readonly queue: QueueService,
    private readonly secrets: WebhookSecrets,
    private readonly rule: AddressRule,
    private readonly terms: SendingTerms,
    private readonly clock: Clock,
  ) {}

  close(): void {
    this.posts.close();
  }

  /** Rejects if it cannot be tried at all, as without a database. */
  async attempt(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Tried> {
    const [startedAt, atMs] = [performance.now(), this.clock.now()];
    const body = await this.bodyOf(delivery);
    const deliveryId = delivery.id;
    if (body === undefined) {
      const nothing = { status: null, body: null, error: 'Its request is gone.' };
      return {
        deliveryId,
        state: 'ended',
        step: delivery.step,
        nextInMs: 0,
        atMs,
        durationMs: 0,
        ...nothing,
      };
    }
    const result = await this.send(delivery, body, signal);
    const verdict = verdictOn(result, delivery.step, this.terms, this.clock.now());
    const { status, body: answer, error } = result;
    const durationMs = Math.round(performance.now() - startedAt);
    return { deliveryId, ...verdict, atMs, durationMs, status, body: answer, error };
  }

  /** undefined: the request is gone, and there is nothing left to send. */
  private async bodyOf({
    requestId,
    baseUrl,
    adapter,
    ...output
  }: ClaimedDelivery): Promise<string | undefined> {
    const row = await this.queue.status(requestId);
    if (row === undefined) return undefined;
    if (adapter === 'fal') return falWebhookBody(row, output.output, payloadErrorOf(output));
    const status = toStatus(
      { row, position: 0, reason: undefined },
      this.config.publicBaseUrl ?? baseUrl ?? '',
    );
    return webhookBody({ modelId: row.modelId, completedAtMs: row.completedAtMs!, status, ...output });
  }

  private async send({ id, url: text, keyId }: ClaimedDelivery, body: string, signal: AbortSignal) {
    const refusal = this.rule.refusalOf(text);
    if (refusal !== undefined) return noAnswer(`The URL is not called any more: it ${refusal}.`);
    const url = new URL(text);
    const timestampS = Math.floor(Date.now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'nowserving',
      'webhook-id': id,
      'webhook-timestamp': String(timestampS),
      'webhook-signature': sign({ id, timestampS, body }, await this.secrets.secretsOf(keyId)),
    };
    return this.posts.post({ url, headers, body, lookup: this.rule.lookupFor(url), signal });
  }
}

function noAnswer(error: string): PostResult {
  return { status: null, body: null, error };
}

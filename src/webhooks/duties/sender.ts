import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { Batcher } from '../../tools/batcher.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { WebhookClient } from '../webhook-client.js';
import { deliveryTried, type DeliveryTried } from '../delivery-events.js';
import { HostLimiter } from '../host-limiter.js';
import { stopped } from '../post.js';
import {
  claimDeliveries,
  type ClaimedDelivery,
  dueDeliveries,
  type HostAndKey,
  readOutput,
} from '../queries/claim-deliveries.js';
import { recordTries, releaseDelivery, type Tried } from '../queries/record-tries.js';
import { SendingTerms } from '../sending-terms.js';
import { outbox } from '../outbox.js';

/** Longest pause between two claims. Completions without webhooks cause no more claims than one in this time. */
const longestPauseMs = 250;
/** If there are more pairs than one claim reads: the pause before the claim that continues. */
const pauseWithinMs = 100;

/** Claims deliveries that are due, and tries a limited number at once. Every node does. */
@Injectable()
export class Sender extends SelfStartingDuty {
  /** Deliveries that other nodes left behind are found within this time. */
  protected readonly intervalMs = 30_000;
  /** Pause after a claim that found deliveries, so that the next one finds several. */
  protected override readonly shortestPauseMs = 25;
  /** A round that failed has forgotten why it began. */
  protected override readonly retryMs = 1_000;
  private readonly claimedBy = randomUUID();
  private readonly limiter: HostLimiter;
  private readonly underWay = new Set<Promise<void>>();
  private readonly results: Batcher<Tried, void>;
  /** Reads of outputs that claims left out. Few run at once, because each may take a good part of a second. */
  private readonly outputs: Batcher<ClaimedDelivery, void>;
  private readonly log = new Logger(Sender.name);
  private isWoken = false;
  private isStopping = false;
  private isFailing = false;
  /** Pause before the next claim. It doubles after a claim that found nothing: most completions have no webhook. */
  private pauseMs = 0;
  private lookedAt = -Infinity;
  /** null: the next claim reads from the first pair on. */
  private lookedUpTo: HostAndKey | null = null;
  /** The time at which something that waits is due, as far as is known. */
  private nextDueAt = Infinity;

  constructor(
    private readonly database: Database,
    private readonly client: WebhookClient,
    private readonly terms: SendingTerms,
    private readonly emitter: EventEmitter2,
  ) {
    super();
    this.limiter = new HostLimiter(terms);
    this.results = new Batcher((tries) => this.record(tries), { maxItems: 64, writers: 2 });
    this.outputs = new Batcher((deliveries) => this.readOutputs(deliveries), { maxItems: 1, writers: 2 });
  }

  override onApplicationBootstrap(): void {
    for (const { on } of outbox) this.emitter.on(on, () => this.wake());
    this.start();
    this.wake();
  }

  override async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.stop();
    const grace = new AbortController();
    const ended = Promise.allSettled(this.underWay).finally(() => grace.abort());
    await delay(this.terms.stopGraceMs, undefined, { signal: grace.signal }).catch(() => undefined);
    this.client.stop();
    await ended;
  }

  wake(): void {
    this.isWoken = true;
    this.scheduleWithin(this.pauseLeftMs());
  }

  /** Leaves deliveries that are due but find no room at their host. The end of a try wakes this duty. */
  async runOnce(): Promise<void> {
    const { isWoken } = this;
    this.isWoken = false;
    if (this.nextDueAt <= performance.now()) this.nextDueAt = Infinity;
    const room = this.limiter.room();
    if (room.limit <= 0 || this.isStopping) return;
    if (!isWoken && !(await this.isAnyDue())) return;
    const { claimMs, maxPayloadBytes: maxOutputBytes } = this.terms;
    const terms = { claimedBy: this.claimedBy, claimMs, maxOutputBytes, ...room, after: this.lookedUpTo };
    const { deliveries, after } = await claimDeliveries(this.database, terms);
    const isWhole = this.lookedUpTo === null && after === null;
    this.lookedUpTo = after;
    this.lookedAt = performance.now();
    for (const delivery of deliveries) this.begin(delivery);
    if (!isWhole) {
      const pauseMs = deliveries.length > 0 ? pauseWithinMs : this.pauseMs * 2;
      this.pauseMs = Math.min(longestPauseMs, Math.max(pauseWithinMs, pauseMs));
      this.isWoken = true;
      return;
    }
    if (deliveries.length > 0) {
      this.pauseMs = this.shortestPauseMs;
      return;
    }
    this.pauseMs = Math.min(longestPauseMs, Math.max(this.shortestPauseMs, this.pauseMs * 2));
    // What became due after the claim is claimed in the next round.
    if (isWoken && (await this.isAnyDue())) this.nextDueAt = performance.now();
  }

  private async isAnyDue(): Promise<boolean> {
    const { isAnyDue, nextInMs } = await dueDeliveries(this.database);
    this.nextDueAt = Math.min(this.nextDueAt, performance.now() + (nextInMs ?? Infinity));
    return isAnyDue;
  }

  protected override nextIntervalMs(): number {
    return this.isWoken ? this.pauseLeftMs() : this.intervalMs;
  }

  protected override dueInMs(): number {
    return Math.min(this.nextDueAt - performance.now(), this.limiter.nextRestEndInMs());
  }

  private pauseLeftMs(): number {
    return Math.max(0, this.lookedAt + this.pauseMs - performance.now());
  }

  private begin(delivery: ClaimedDelivery): void {
    const end = this.limiter.begin(delivery.host, delivery.signedFor);
    const making = this.makeTry(delivery).then((answered) => {
      end(answered);
      this.underWay.delete(making);
      this.pauseMs = this.shortestPauseMs;
      return this.wake();
    });
    this.underWay.add(making);
  }

  /** Returns whether any answer came. undefined: that is not known. A claim without a written result runs out. */
  private async makeTry(delivery: ClaimedDelivery): Promise<boolean | undefined> {
    const { deliveryId, requestId, host } = delivery;
    try {
      const { output, outputBytes } = delivery;
      const isLeftOut = output === null && outputBytes > 0 && outputBytes <= this.terms.maxPayloadBytes;
      if (isLeftOut) await this.outputs.add(delivery);
      const tried = await this.client.makeTry(delivery);
      this.isFailing = false;
      const { state, nextInMs, entry } = tried;
      if (entry.error === stopped) {
        await releaseDelivery(this.database, this.claimedBy, tried);
        return undefined;
      }
      await this.results.add(tried);
      this.emitter.emit(deliveryTried, { state, durationMs: entry.duration_ms } satisfies DeliveryTried);
      if (state === 'pending') this.nextDueAt = Math.min(this.nextDueAt, performance.now() + nextInMs);
      if (state === 'failed' || state === 'ended')
        this.log.warn({ deliveryId, requestId, host, status: entry.status }, 'a webhook was given up');
      return state === 'ended' ? undefined : entry.status !== null;
    } catch (error) {
      if (!this.isFailing && !isDatabaseUnavailable(error))
        this.log.error({ err: error }, 'webhooks cannot be tried');
      this.isFailing = true;
      return undefined;
    }
  }

  private readOutputs(deliveries: readonly ClaimedDelivery[]): Promise<void[]> {
    const { maxPayloadBytes } = this.terms;
    return Promise.all(deliveries.map((delivery) => readOutput(this.database, delivery, maxPayloadBytes)));
  }

  private async record(tries: Tried[]): Promise<void[]> {
    const disabled = await recordTries(this.database, this.claimedBy, tries);
    for (const { id } of disabled)
      this.log.warn({ endpointId: id }, 'an endpoint answered 410 and was disabled');
    return tries.map(() => undefined);
  }
}

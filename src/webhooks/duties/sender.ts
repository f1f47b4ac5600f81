import { randomUUID } from 'node:crypto';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { Batcher } from '../../tools/batcher.js';
import { Duty } from '../../tools/duty.js';
import { Courier } from '../courier.js';
import { HostLanes } from '../host-lanes.js';
import { claimDeliveries, type ClaimedDelivery, nextDeliveryInMs } from '../queries/claim-deliveries.js';
import { recordTries, releaseDeliveries, type Tried } from '../queries/record-tries.js';
import { SendingTerms } from '../sending-terms.js';

/** Completions without webhooks make it look this often at most. */
const longestPauseMs = 250;
const shortestPauseMs = 10;
const stopped = 'The node stopped.';

/** Claims deliveries that are due, and tries them, so many at once. Every node does. */
@Injectable()
export class Sender extends Duty implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Deliveries that other nodes left behind are found at the latest then. */
  protected readonly intervalMs = 10_000;
  private readonly claimedBy = randomUUID();
  private readonly lanes: HostLanes;
  private readonly underWay = new Map<AbortController, Promise<void>>();
  private readonly results: Batcher<Tried, void>;
  private readonly log = new Logger(Sender.name);
  private isWoken = false;
  private isStopping = false;
  private isFailing = false;
  /** After claims that found nothing, twice as long each time: most completions have no webhook. */
  private pauseMs = 0;
  private lookedAt = -Infinity;
  /** When something that waits is due, as far as is known. */
  private nextDueAt = Infinity;

  constructor(
    private readonly database: Database,
    private readonly courier: Courier,
    private readonly terms: SendingTerms,
  ) {
    super();
    this.lanes = new HostLanes(terms);
    this.results = new Batcher((tries) => this.record(tries), { maxItems: 64, writers: 2 });
  }

  onApplicationBootstrap(): void {
    this.start();
    this.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.stop();
    const grace = new AbortController();
    const ended = Promise.allSettled(this.underWay.values()).finally(() => grace.abort());
    await delay(this.terms.stopGraceMs, undefined, { signal: grace.signal }).catch(() => undefined);
    for (const attempt of this.underWay.keys()) attempt.abort(stopped);
    await ended;
    this.courier.close();
  }

  @OnEvent('request.completed')
  wake(): void {
    this.isWoken = true;
    this.scheduleWithin(this.pauseLeftMs());
  }

  /** What is due and finds no room at its host is left: the end of a try wakes us. */
  async runOnce(): Promise<void> {
    this.isWoken = false;
    const room = this.lanes.room();
    if (room.limit <= 0 || this.isStopping) return;
    const { leaseMs, maxPayloadBytes: maxOutputBytes } = this.terms;
    const terms = { claimedBy: this.claimedBy, leaseMs, maxOutputBytes, ...room };
    const claimed = await claimDeliveries(this.database, terms);
    this.lookedAt = performance.now();
    for (const delivery of claimed) this.begin(delivery);
    if (claimed.length > 0) {
      this.pauseMs = shortestPauseMs;
      return;
    }
    this.pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, this.pauseMs * 2));
    const inMs = await nextDeliveryInMs(this.database);
    this.nextDueAt = Math.min(this.nextDue(), inMs === null ? Infinity : performance.now() + inMs);
  }

  protected override nextIntervalMs(): number {
    if (this.isWoken) return this.pauseLeftMs();
    const dueInMs = Math.min(this.nextDue() - performance.now(), this.lanes.nextRestEndInMs());
    return Math.min(this.intervalMs, Math.max(shortestPauseMs, dueInMs));
  }

  private nextDue(): number {
    return this.nextDueAt > performance.now() ? this.nextDueAt : Infinity;
  }

  private pauseLeftMs(): number {
    return Math.max(0, this.lookedAt + this.pauseMs - performance.now());
  }

  private begin(delivery: ClaimedDelivery): void {
    const controller = new AbortController();
    const timeout = `No answer came within ${this.terms.timeoutMs / 1_000} s.`;
    const timer = setTimeout(() => controller.abort(timeout), this.terms.timeoutMs);
    const end = this.lanes.begin(delivery.host);
    const attempt = this.attempt(delivery, controller.signal).then((answered) => {
      clearTimeout(timer);
      end(answered);
      this.underWay.delete(controller);
      this.pauseMs = shortestPauseMs;
      return this.wake();
    });
    this.underWay.set(controller, attempt);
  }

  /** Whether any answer came; undefined: that is not known. A claim that nothing is written for runs out. */
  private async attempt(delivery: ClaimedDelivery, signal: AbortSignal): Promise<boolean | undefined> {
    const { id, requestId, host } = delivery;
    try {
      const tried = await this.courier.attempt(delivery, signal);
      this.isFailing = false;
      if (tried.error === stopped) {
        await releaseDeliveries(this.database, this.claimedBy, [id]);
        return undefined;
      }
      await this.results.add(tried);
      const { state, status, nextInMs } = tried;
      if (state === 'pending') this.nextDueAt = Math.min(this.nextDue(), performance.now() + nextInMs);
      if (state === 'failed' || state === 'ended')
        this.log.warn({ deliveryId: id, requestId, host, status }, 'a webhook was given up');
      return state === 'ended' ? undefined : status !== null;
    } catch (error) {
      if (!this.isFailing && !isDatabaseUnavailable(error))
        this.log.error({ err: error }, 'webhooks cannot be tried');
      this.isFailing = true;
      return undefined;
    }
  }

  private async record(tries: Tried[]): Promise<void[]> {
    const disabled = await recordTries(this.database, this.claimedBy, tries);
    for (const { id } of disabled)
      this.log.warn({ endpointId: id }, 'an endpoint answered 410 and was disabled');
    return tries.map(() => undefined);
  }
}

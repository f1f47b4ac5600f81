import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Observer, Subscription } from 'rxjs';
import { assertMayUse, type Caller } from '../auth/caller.js';
import { CallerWatch, type OpenCall } from '../auth/caller-watch.js';
import type { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { Draining } from '../http/draining.js';
import type { Snapshot, StatusRow } from '../queue/reads/status-row.js';
import { StatusSources } from '../queue/reads/status-sources.js';

/** Interval at which calls with an expired wait are answered, and calls of disconnected clients are dropped. */
const tickMs = 100;
/** A proxy gives up on a call that is silent for 60 s (nginx's default), so the answer must come before that. */
export const maxHoldMs = 55_000;
/** Time limit for the last answers of a service that stops. */
const lastAnswersMs = 2_000;

/** One object per call, without closures, because there may be ten thousand of them. */
class LongPoll implements Observer<Snapshot>, OpenCall {
  subscription: Subscription | undefined;
  private row: StatusRow | undefined;

  constructor(
    private readonly calls: LongPolls,
    readonly response: ServerResponse,
    readonly until: number,
    /** The model that the caller must still be allowed to use. */
    private readonly modelId: string | undefined,
    readonly resolve: (row: StatusRow | undefined) => void,
    private readonly reject: (refusal: DomainError) => void,
  ) {}

  get request(): IncomingMessage {
    return this.response.req;
  }

  assertAllowed(caller: Caller): void {
    if (this.modelId !== undefined) assertMayUse(caller, this.modelId);
  }

  refuse(refusal: DomainError): void {
    this.reject(refusal);
    this.calls.release(this);
  }

  get isGone(): boolean {
    return this.response.req.socket.destroyed;
  }

  /** undefined: the current status must be read. */
  get finalRow(): StatusRow | undefined {
    return this.row?.state === 'COMPLETED' || this.isGone ? this.row : undefined;
  }

  next({ row }: Snapshot): void {
    this.row = row;
  }

  error(): void {
    this.calls.release(this);
  }

  complete(): void {
    this.calls.release(this);
  }
}

/** The calls that wait for their request to complete (`Prefer: wait`). */
@Injectable()
export class LongPolls {
  private readonly open = new Set<LongPoll>();
  private ticker: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** A longer wait ends after this time, if its client can ask again. Tests shorten it. */
  maxHoldMs = maxHoldMs;

  constructor(
    private readonly sources: StatusSources,
    private readonly draining: Draining,
    private readonly watch: CallerWatch,
  ) {}

  get size(): number {
    return this.open.size;
  }

  /**
   * Returns the row once its request has completed. Returns undefined when the seconds are over, and the caller must
   * read it again. Returns at once when the service stops. A call that waited to the end gets `Preference-Applied` in
   * its answer.
   * Throws if the key may no longer make the call or, with `modelId`, no longer use that model.
   */
  async wait(
    row: StatusRow,
    seconds: number,
    response: ServerResponse,
    modelId?: string,
  ): Promise<StatusRow | undefined> {
    let last: StatusRow | undefined = row;
    if (row.state !== 'COMPLETED') {
      if (this.draining.isStarted) return row;
      last = await this.hold(row, Math.min(seconds * 1_000, this.maxHoldMs), response, modelId);
      if (last === undefined && this.isStopped) return undefined;
    }
    response.setHeader('Preference-Applied', `wait=${seconds}`);
    return last;
  }

  /**
   * As `wait`, for any time. Returns the last known row if the client has disconnected. If the time is longer than
   * `maxHoldMs`, proxies must be set to allow it (docs/proxies.md).
   */
  async hold(
    row: StatusRow,
    ms: number,
    response: ServerResponse,
    modelId: string | undefined,
  ): Promise<StatusRow | undefined> {
    chargesOf(response.req)?.releaseBody();
    let call!: LongPoll;
    const last = await new Promise<StatusRow | undefined>((resolve, reject) => {
      const until = performance.now() + ms;
      call = new LongPoll(this, response, until, modelId, resolve, reject);
      this.open.add(call);
      this.watch.add(call);
      this.ticker ??= setInterval(() => this.tick(), tickMs);
      call.subscription = this.sources.watch(row, { positions: false }).subscribe(call);
    });
    await this.watch.confirm(call);
    return last;
  }

  release(call: LongPoll): void {
    if (!this.open.delete(call)) return;
    call.subscription?.unsubscribe();
    this.watch.remove(call);
    call.resolve(call.finalRow);
    if (this.open.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }

  /** Answers all calls as if they had not waited. Resolves when the answers are written. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const responses = [...this.open].map(({ response }) => response);
    for (const call of this.open) this.release(call);
    const deadline = performance.now() + lastAnswersMs;
    const isOpen = (response: ServerResponse): boolean => !response.writableFinished && !response.destroyed;
    while (responses.some(isOpen) && performance.now() < deadline) await delay(10);
  }

  private tick(): void {
    const now = performance.now();
    for (const call of this.open) if (call.until <= now || call.isGone) this.release(call);
  }
}

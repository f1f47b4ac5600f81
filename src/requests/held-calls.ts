import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Observer, Subscription } from 'rxjs';
import { assertMayUse, type Caller } from '../auth/caller.js';
import { CallerWatch, type OpenCall } from '../auth/caller-watch.js';
import type { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { Draining } from '../http/draining.js';
import type { Snapshot, StatusRow } from '../queue/status-row.js';
import { StatusSources } from '../queue/status-sources.js';

/** As late as that a call is answered whose time is over, and forgotten whose client is gone. */
const tickMs = 100;
/** What the answers of a service that stops may take. */
const lastAnswersMs = 2_000;

/** One object a call, and no closures: there are ten thousand of them. */
class HeldCall implements Observer<Snapshot>, OpenCall {
  subscription: Subscription | undefined;
  private row: StatusRow | undefined;

  constructor(
    private readonly calls: HeldCalls,
    readonly response: ServerResponse,
    readonly until: number,
    /** That the caller must still be allowed to use. */
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

  /** Undefined: what it is now must be read. */
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
export class HeldCalls {
  private readonly held = new Set<HeldCall>();
  private ticker: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sources: StatusSources,
    private readonly draining: Draining,
    private readonly watch: CallerWatch,
  ) {}

  get size(): number {
    return this.held.size;
  }

  /**
   * The row once its request has completed; undefined when the seconds are over: read it again. At once where the service
   * stops. What waited to its end says so in its answer. Throws what refuses the call, once its key may no longer make it;
   * `modelId`: or may no longer use this model.
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
      last = await this.hold(row, seconds, response, modelId);
      if (last === undefined && this.isStopped) return undefined;
    }
    response.setHeader('Preference-Applied', `wait=${seconds}`);
    return last;
  }

  release(call: HeldCall): void {
    if (!this.held.delete(call)) return;
    call.subscription?.unsubscribe();
    this.watch.remove(call);
    call.resolve(call.finalRow);
    if (this.held.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }

  /** All are answered as if they had not waited; resolves when that is written. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const responses = [...this.held].map(({ response }) => response);
    for (const call of this.held) this.release(call);
    const deadline = performance.now() + lastAnswersMs;
    const isOpen = (response: ServerResponse): boolean => !response.writableFinished && !response.destroyed;
    while (responses.some(isOpen) && performance.now() < deadline) await delay(10);
  }

  private async hold(
    row: StatusRow,
    seconds: number,
    response: ServerResponse,
    modelId: string | undefined,
  ): Promise<StatusRow | undefined> {
    chargesOf(response.req)?.releaseBody();
    let call!: HeldCall;
    const last = await new Promise<StatusRow | undefined>((resolve, reject) => {
      const until = performance.now() + seconds * 1_000;
      call = new HeldCall(this, response, until, modelId, resolve, reject);
      this.held.add(call);
      this.watch.add(call);
      this.ticker ??= setInterval(() => this.tick(), tickMs);
      call.subscription = this.sources.watch(row, { positions: false }).subscribe(call);
    });
    await this.watch.confirm(call);
    return last;
  }

  private tick(): void {
    const now = performance.now();
    for (const call of this.held) if (call.until <= now || call.isGone) this.release(call);
  }
}

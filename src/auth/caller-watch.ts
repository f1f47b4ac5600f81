import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import { DomainError } from '../errors/domain-error.js';
import { BodyReader } from '../http/body-reader.js';
import { Coalesced } from '../tools/coalesced.js';
import { AccessRule } from './access-rule.js';
import { CallerFinder } from './caller-finder.js';
import { CallerResolver, type Resolution } from './caller-resolver.js';
import { type Caller, hasScope, type Scope } from './caller.js';

const lookEveryMs = 1_000;
/** With the interval and duration of a look, under the 5 s within which a revocation reaches every node. */
const maxAgeMs = 2_500;
/** A stream shows more to a key with these scopes. */
const shown: readonly Scope[] = ['observe', 'payloads'];

/** A call that stays open after the gate admitted it: it waits, or streams. */
export interface OpenCall {
  readonly request: IncomingMessage;
  /** Throws if the caller may not have what the call is for, beyond what its route requires. */
  assertAllowed?(caller: Caller): void;
  /** Called once, with the error that the call would get if it came now: 401 or 403. */
  refuse(refusal: DomainError): void;
}

/** A stream of messages. One object, without closures, because there may be ten thousand of them. */
class OpenStream implements OpenCall {
  constructor(
    readonly request: IncomingMessage,
    private readonly caller: Caller | undefined,
    private readonly messages: Subscriber<unknown>,
  ) {}

  assertAllowed(now: Caller): void {
    const { caller } = this;
    if (caller === undefined) return;
    const lost = shown.find((scope) => hasScope(caller, scope) && !hasScope(now, scope));
    if (lost !== undefined)
      throw new DomainError('forbidden', `The API key no longer has the scope "${lost}".`);
  }

  refuse(): void {
    this.messages.complete();
  }
}

/** The open calls that presented the same key or session. */
interface Group {
  calls: Set<OpenCall>;
  /** The caller by which all calls but `fresh` were judged last. */
  judgedBy: Caller | undefined;
  /** The gate judged these calls by what was known when they came, which may be long ago. */
  fresh: Set<OpenCall>;
}

/**
 * Binds open calls to the access of their callers. If a key is revoked, expires or loses a scope, its calls end: at
 * once on the node that changed it, and within 5 s on the others. The end of a session has the same effect.
 */
@Injectable()
export class CallerWatch implements BeforeApplicationShutdown {
  private readonly groups = new Map<string, Group>();
  private timer: NodeJS.Timeout | undefined;
  private readonly looks = new Coalesced(() => this.lookAtAll());

  constructor(
    private readonly callers: CallerResolver,
    private readonly finder: CallerFinder,
    private readonly rule: AccessRule,
    bodies: BodyReader,
  ) {
    bodies.onSlow = (request) => this.confirm({ request });
    finder.changed.subscribe(() => {
      if (this.groups.size > 0) void this.looks.run();
    });
  }

  /** Watches the call until it is removed. A call without a key is not watched. */
  add(call: OpenCall): void {
    const hash = this.callers.hashOf(call.request);
    if (hash === undefined) return;
    const group = this.groups.get(hash) ?? { calls: new Set(), judgedBy: undefined, fresh: new Set() };
    this.groups.set(hash, group);
    group.calls.add(call);
    group.fresh.add(call);
    this.timer ??= setInterval(() => void this.looks.run(), lookEveryMs).unref();
  }

  remove(call: OpenCall): void {
    const hash = this.callers.hashOf(call.request);
    const group = hash === undefined ? undefined : this.groups.get(hash);
    if (group === undefined) return;
    group.calls.delete(call);
    group.fresh.delete(call);
    if (group.calls.size > 0) return;
    this.groups.delete(hash!);
    if (this.groups.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Throws the error that refuses the call now. This is the last check before the answer. Synchronous from memory. */
  confirm(call: Omit<OpenCall, 'refuse'>): void | Promise<void> {
    const resolution = this.callers.resolveAnew(call.request);
    if (resolution instanceof Promise) return resolution.then((resolved) => this.judge(call, resolved));
    this.judge(call, resolution);
  }

  /** Completes a stream when its key or session is no longer valid, or may see less than the stream shows. */
  whilePermitted<T>(request: IncomingMessage, caller: Caller | undefined): MonoTypeOperatorFunction<T> {
    return (messages) =>
      new Observable((subscriber) => {
        const stream = new OpenStream(request, caller, subscriber);
        this.add(stream);
        messages.subscribe(subscriber);
        return () => this.remove(stream);
      });
  }

  /** Closes the connection of an answer that is being sent when its caller loses access. */
  bind(response: ServerResponse): void {
    // Then no event would end the watch.
    if (response.closed || response.destroyed) return;
    const call: OpenCall = { request: response.req, refuse: () => response.destroy() };
    this.add(call);
    response.once('close', () => this.remove(call));
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looks.ended;
  }

  private async lookAtAll(): Promise<void> {
    try {
      await this.finder.freshen(maxAgeMs);
      await Promise.all([...this.groups].map(([hash, group]) => this.lookAt(hash, group)));
    } catch {
      // Without the database no call is refused. The next look decides.
    }
  }

  private async lookAt(hash: string, group: Group): Promise<void> {
    const found = this.finder.find(hash);
    const caller = found instanceof Promise ? await found : found;
    // While no key is changed, memory has the same object.
    const due = caller !== undefined && caller === group.judgedBy ? group.fresh : group.calls;
    const calls = [...due];
    group.fresh.clear();
    group.judgedBy = caller;
    for (const call of calls) {
      const refusal = this.refusalOf(call, this.callers.resolvedAs(call.request, caller));
      if (refusal === undefined || !group.calls.has(call)) continue;
      this.remove(call);
      call.refuse(refusal);
    }
  }

  private refusalOf(call: OpenCall, resolution: Resolution): DomainError | undefined {
    try {
      this.judge(call, resolution);
      return undefined;
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  }

  private judge(call: Omit<OpenCall, 'refuse'>, resolution: Resolution): void {
    const caller = this.rule.permitAgain(call.request, resolution);
    if (caller !== undefined) call.assertAllowed?.(caller);
  }
}

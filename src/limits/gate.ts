import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { AccessRule } from '../auth/access-rule.js';
import { CallerResolver, type Resolution } from '../auth/caller-resolver.js';
import type { Access, Caller } from '../auth/caller.js';
import { Config } from '../config/config.js';
import type { RateLimits } from '../config/rate-limits.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { ClientAddress } from '../http/client-address.js';
import { setFields } from '../http/reply.js';
import { type KeyLimitDto, type KeyLimitsDto, toKeyLimit } from './dto/key-limits.dto.js';
import { ShareKeeper } from './share-keeper.js';
import { rateLimitFields } from './rate-limit-fields.js';
import type { Admission, LimitSubject, RouteClass } from './budget.js';

/** Takes the header fields of an answer, names and values in turn. */
export interface Answer {
  setFields(fields: readonly string[]): void;
}

/** undefined: the call came without a key, which its route allows. */
type Entered = Caller | undefined;
type Subject = LimitSubject | undefined;

const idsPerCall = 100;

export interface EnteredItems {
  admitted: number;
  refusal: DomainError | undefined;
}

/** By route class, the name of its setting and of the field of a key that has limits of its own. */
const limitFields = {
  submit: 'rateLimitSubmit',
  other: 'rateLimitOther',
  batch: 'rateLimitBatch',
} as const satisfies Record<RouteClass, keyof Config>;

/**
 * Every call of the queue passes the gate, by the fast path or by Nest. The gate finds whose key the call brings,
 * counts it under its limits and checks that the key allows it, in this order. A call without a valid key counts for
 * its address.
 */
@Injectable()
export class Gate {
  constructor(
    private readonly callers: CallerResolver,
    private readonly rule: AccessRule,
    private readonly keeper: ShareKeeper,
    private readonly addresses: ClientAddress,
    private readonly config: Config,
  ) {}

  /** Admits a call, or throws the error that refuses it. Returns no promise if the key and its share are known here. */
  enter(request: IncomingMessage, access: Access, answer: Answer): Entered | Promise<Entered> {
    const resolution = this.callers.resolve(request);
    return resolution instanceof Promise
      ? resolution.then((resolved) => this.admitted(request, resolved, access, answer))
      : this.admitted(request, resolution, access, answer);
  }

  /** Returns what the call counts for. undefined: nothing limits it. */
  subjectOf(request: IncomingMessage, resolution: Resolution, routeClass: RouteClass): Subject {
    const caller = resolution.kind === 'caller' ? resolution.caller : undefined;
    const limits = this.limitsOf(caller, routeClass);
    if (limits.length === 0) return undefined;
    const subject = caller ? nameOfKey(caller) : `address:${normalizeIp(this.addresses.of(request))}`;
    return { subject, routeClass, limits, hasKey: caller !== undefined };
  }

  count(subject: LimitSubject): Admission | Promise<Admission> {
    return this.keeper.admit(subject);
  }

  /** Sets the rate limit fields of the answer. Throws if there is no room. */
  judge(admission: Admission, answer: Answer): void {
    answer.setFields(rateLimitFields(admission.windows));
    if (!admission.admitted) throw this.refusalOf(admission);
  }

  /** Counts a call that entered as one call per 100 ids that it names. Throws unless there is room for all of them. */
  async enterForIds(ids: number, request: IncomingMessage, answer: Answer): Promise<void> {
    const calls = Math.ceil(ids / idsPerCall);
    const subject = this.subjectOf(request, await this.callers.resolve(request), 'other');
    if (subject === undefined || calls <= 1) return;
    const most = Math.min(...subject.limits.map(({ limit }) => limit));
    if (calls > most) {
      const detail = `This call counts as ${calls}, and no more than ${most} are allowed at once. Name at most ${most * idsPerCall} ids in a call.`;
      throw new DomainError('rate_limited', detail, { status: this.config.rateLimitStatus });
    }
    // The first of them was counted when the call entered. A repeated call enters again, so it needs room for all.
    const admission = await this.keeper.admit(subject, calls - 1);
    this.judge(admission.admitted ? admission : this.keeper.refusal(subject, calls), answer);
  }

  /** Counts the items of a call that entered. The first ones are admitted; `refusal` is the error for the others. */
  async enterItems(request: IncomingMessage, count: number, answer: Answer): Promise<EnteredItems> {
    const subject = this.subjectOf(request, await this.callers.resolve(request), 'batch');
    if (subject === undefined || count === 0) return { admitted: count, refusal: undefined };
    const { admitted, admission } = await this.keeper.admitSome(subject, count);
    answer.setFields(rateLimitFields(admission.windows));
    return { admitted, refusal: admitted < count ? this.refusalOf(admission) : undefined };
  }

  /** Counts items that a caller handed in before. The first ones are admitted; `refusal` is the error for the others. */
  async admitItems(caller: Caller, count: number): Promise<EnteredItems> {
    const limits = this.limitsOf(caller, 'batch');
    if (limits.length === 0) return { admitted: count, refusal: undefined };
    const subject = { subject: nameOfKey(caller), routeClass: 'batch', limits, hasKey: true } as const;
    const { admitted, admission } = await this.keeper.admitSome(subject, count);
    return { admitted, refusal: admitted < count ? this.refusalOf(admission) : undefined };
  }

  /** Returns what is left of callers' limits over all nodes, in their order. Counts no call. */
  async quotasOf(callers: readonly Caller[]): Promise<KeyLimitsDto[]> {
    const quotaOf = await this.keeper.quotasOf(callers.map(nameOfKey));
    return callers.map((caller) => {
      const left = (routeClass: RouteClass): KeyLimitDto[] => {
        const limits = this.limitsOf(caller, routeClass);
        return quotaOf({ subject: nameOfKey(caller), routeClass, limits, hasKey: true }).map(toKeyLimit);
      };
      return { submit: left('submit'), other: left('other'), batch: left('batch') };
    });
  }

  private limitsOf(caller: Caller | undefined, routeClass: RouteClass): RateLimits {
    const own = limitFields[routeClass];
    return caller?.[own] ?? this.config[own];
  }

  private refusalOf(admission: Admission): DomainError {
    const seconds = admission.retryAfterSeconds;
    // If no window is full by itself, the calls that wait before this one take what is left.
    const { exhausted } = admission;
    const full = (exhausted.length > 0 ? exhausted : admission.windows).map(({ window }) => window);
    const limits = full.map(({ limit, name }) => `${limit} requests in a ${name}`).join(' and ');
    return new DomainError('rate_limited', `No more than ${limits}. Try again in ${seconds} s.`, {
      status: this.config.rateLimitStatus,
      retryAfterSeconds: seconds,
      extensions: { 'violated-policies': full.map(({ name }) => name) },
    });
  }

  private admitted(
    request: IncomingMessage,
    resolution: Resolution,
    access: Access,
    answer: Answer,
  ): Entered | Promise<Entered> {
    chargeCaller(request, resolution);
    const subject = this.subjectOf(request, resolution, routeClassOf(access));
    if (subject !== undefined) {
      const counted = this.count(subject);
      if (counted instanceof Promise) {
        return counted.then((admission) => {
          this.judge(admission, answer);
          return this.rule.permit(request, resolution, access);
        });
      }
      this.judge(counted, answer);
    }
    return this.rule.permit(request, resolution, access);
  }
}

/** Charges what a call with a valid key holds to that key, from now on. */
export function chargeCaller(request: IncomingMessage, resolution: Resolution): void {
  if (resolution.kind === 'caller') chargesOf(request)?.chargeToKey(resolution.caller.keyId);
}

function nameOfKey({ keyId }: Caller): string {
  return `key:${keyId}`;
}

/** A call with many submissions counts as `other`, because its items have limits of their own. */
export function routeClassOf({ scope, isMany }: Access): RouteClass {
  return scope === 'submit' && isMany !== true ? 'submit' : 'other';
}

export function answerOf(response: ServerResponse): Answer {
  return { setFields: (fields) => setFields(response, fields) };
}

import { applyDecorators, type ExecutionContext, Inject, Injectable, UseGuards } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import {
  getOptionsToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { AccessRule } from '../auth/access-rule.js';
import { CallerResolver, type Resolution } from '../auth/caller-resolver.js';
import type { RefusedAccess } from '../auth/access-events.js';
import { type Access, type Caller, hasScope, operatorScopes } from '../auth/caller.js';
import { type GuardedRequest, RequireAccess } from '../auth/current-caller.decorator.js';
import { ApiLimited } from '../http/openapi/operations.js';
import { answerOf, chargeCaller, Gate, routeClassOf } from './gate.js';
import type { Admission, LimitSubject } from './budget.js';

/** The throttler's record of a call, with the state of its windows. */
type CountedCall = Awaited<ReturnType<ThrottlerStorage['increment']>> & { admission: Admission };

/** The throttler's storage: counts a call by the gate, in all windows of its limit at once. */
@Injectable()
export class ShareStorage implements ThrottlerStorage {
  constructor(private readonly gate: Gate) {}

  /** `key` is the subject as JSON. Its limits have windows of their own, so `ttl` and `limit` are ignored. */
  async increment(key: string): Promise<CountedCall> {
    const admission = await this.gate.count(JSON.parse(key) as LimitSubject);
    const { window, remaining, resetMs } = admission.windows[0]!;
    return {
      admission,
      totalHits: admission.admitted ? window.limit - remaining : window.limit + 1,
      timeToExpire: Math.ceil(resetMs / 1_000),
      isBlocked: !admission.admitted,
      timeToBlockExpire: admission.admitted ? 0 : admission.retryAfterSeconds,
    };
  }
}

/** The gate as a Nest guard: the throttler counts, then the scope of the route decides. */
@Injectable()
class LimitedGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    private readonly storage: ShareStorage,
    reflector: Reflector,
    private readonly callers: CallerResolver,
    private readonly rule: AccessRule,
    private readonly gate: Gate,
    private readonly events: EventEmitter2,
  ) {
    super(options, storage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const access = this.reflector.get(RequireAccess, context.getHandler());
    const resolution = await this.callers.resolve(request);
    chargeCaller(request, resolution);
    const caller = this.permit(request, resolution, access);
    if (caller !== undefined) request.caller = caller;
    return true;
  }

  private permit(request: GuardedRequest, resolution: Resolution, access: Access): Caller | undefined {
    try {
      return this.rule.permit(request, resolution, access);
    } catch (error) {
      const refused = refusedAccess(resolution, access);
      if (refused !== undefined) this.events.emit('access.refused', { request, ...refused });
      throw error;
    }
  }

  /** Nest calls this for each throttler, and only the one of the route's class counts. */
  protected override async handleRequest({ context, throttler }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<GuardedRequest>();
    const access = this.reflector.get(RequireAccess, context.getHandler());
    const routeClass = routeClassOf(access);
    if (throttler.name !== routeClass) return true;
    const resolution = await this.callers.resolve(request);
    // A call that will be refused is counted: the caller may be guessing keys, or repeat it without end.
    if (access.isUncounted === true && isPermitted(resolution, access)) return true;
    const subject = this.gate.subjectOf(request, resolution, routeClass);
    if (subject === undefined) return true;
    const { admission } = await this.storage.increment(JSON.stringify(subject));
    this.gate.judge(admission, answerOf(http.getResponse()));
    return true;
  }
}

/** Returns whether a call has a key with the scope of its route. */
function isPermitted(resolution: Resolution, { scope }: Access): boolean {
  return resolution.kind === 'caller' && (scope === 'any' || hasScope(resolution.caller, scope));
}

/**
 * Returns what is audited of a refusal. On operators' routes this is every valid key. A call of a session that another
 * site may have sent is also audited on routes open to any key.
 */
function refusedAccess(
  resolution: Resolution,
  { scope }: Access,
): Omit<RefusedAccess, 'request'> | undefined {
  if (scope !== 'any' && !operatorScopes.includes(scope)) return undefined;
  if (resolution.kind === 'forged' && resolution.caller !== undefined)
    return { caller: resolution.caller, forgery: resolution.reason };
  return resolution.kind === 'caller' && scope !== 'any' ? { caller: resolution.caller, scope } : undefined;
}

/**
 * Makes a route pass the gate. `isMany`: the items of its calls are counted by a limit of their own.
 * `isUncounted`: calls with a key that has the scope are not counted.
 */
export function Limited(
  scope: Access['scope'],
  { needsKey = false, isMany = false, isOpen = false, isUncounted = false } = {},
): MethodDecorator {
  return applyDecorators(
    RequireAccess({ scope, needsKey, isMany, isOpen, isUncounted }),
    UseGuards(LimitedGuard),
    ApiLimited({ needsKey, isCounted: !isUncounted }),
  );
}

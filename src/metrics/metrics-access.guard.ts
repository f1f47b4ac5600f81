import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { RefusedAccess } from '../auth/access-events.js';
import { CallerResolver, type Resolution } from '../auth/caller-resolver.js';
import { hasScope } from '../auth/caller.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { Config } from '../config/config.js';
import { DatabaseWatch } from '../database/database-watch.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { within } from '../tools/within.js';

/** These calls are not rate limited, so a key's refusal is audited only once in this time. */
const auditedAgainMs = 60_000;
/** A scrape has its own timeout, usually 10 s. A database that hangs must not use it up. */
const patienceMs = 2_000;

/**
 * Scrapes bypass the rate limits. A node that serves no callers has none, and a scrape every few seconds needs none.
 */
@Injectable()
export class MetricsAccessGuard implements CanActivate {
  private readonly refusedLately = new BoundedCache<true>(1_000);

  constructor(
    private readonly callers: CallerResolver,
    private readonly config: Config,
    private readonly events: EventEmitter2,
    private readonly watch: DatabaseWatch,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.config.metricsAccess === 'open') return true;
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const resolution = await this.resolve(request);
    if (resolution.kind === 'invalid') throw new DomainError('invalid_key', resolution.reason);
    if (resolution.kind === 'forged') {
      const { caller, reason: forgery } = resolution;
      if (caller !== undefined) this.noteRefusal({ request, caller, forgery });
      throw new DomainError('forbidden', forgery);
    }
    if (resolution.kind === 'anonymous')
      throw new DomainError(
        'missing_key',
        'Send a key with the scope "observe" as "Authorization: Bearer <API key>", or start with METRICS_ACCESS=open.',
      );
    if (hasScope(resolution.caller, 'observe')) return true;
    this.noteRefusal({ request, caller: resolution.caller, scope: 'observe' });
    throw new DomainError('forbidden', 'This API key does not have the scope "observe".');
  }

  /**
   * While the database is away, a known key keeps its last known rights, because the metrics must report the outage.
   */
  private async resolve(request: GuardedRequest): Promise<Resolution> {
    const known = this.callers.observerWithoutDatabase(request);
    const remembered: Resolution | undefined = known && { kind: 'caller', caller: known };
    if (remembered !== undefined && !this.watch.state.isUp) return remembered;
    try {
      const resolving = Promise.resolve(this.callers.resolve(request));
      return remembered === undefined ? await resolving : await within(patienceMs, resolving, remembered);
    } catch (error) {
      if (remembered === undefined || !isDatabaseUnavailable(error)) throw error;
      return remembered;
    }
  }

  private noteRefusal(refused: RefusedAccess): void {
    const [{ keyId }, now] = [refused.caller, performance.now()];
    if (this.refusedLately.get(keyId, now) !== undefined) return;
    this.refusedLately.set(keyId, true, now + auditedAgainMs);
    this.events.emit('access.refused', refused);
  }
}

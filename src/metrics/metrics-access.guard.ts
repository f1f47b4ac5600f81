import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { CallerResolver } from '../auth/caller-resolver.js';
import { hasScope } from '../auth/caller.js';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';

/** Past the limits, which a node without callers does not have: a scrape every few seconds is no caller's business. */
@Injectable()
export class MetricsAccessGuard implements CanActivate {
  constructor(
    private readonly callers: CallerResolver,
    private readonly config: Config,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.config.metricsAccess === 'open') return true;
    const resolution = await this.callers.resolve(context.switchToHttp().getRequest<Request>());
    if (resolution.kind === 'invalid') throw new DomainError('invalid_key', resolution.reason);
    if (resolution.kind === 'forged') throw new DomainError('forbidden', resolution.reason);
    if (resolution.kind === 'anonymous')
      throw new DomainError(
        'missing_key',
        'Send a key with the scope "observe" as "Authorization: Bearer <API key>", or start with METRICS_ACCESS=open.',
      );
    if (hasScope(resolution.caller, 'observe')) return true;
    throw new DomainError('forbidden', 'This API key does not have the scope "observe".');
  }
}

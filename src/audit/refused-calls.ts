import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { validate as isUuid } from 'uuid';
import type { RefusedAccess } from '../auth/access-events.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { Handles } from '../auth/handles.js';
import { AuditTrail } from './audit-trail.js';
import { Refusals } from './refusals.js';

const maxTextLength = 300;

/** Audits what operators' routes refused a valid key, and calls of a session that another site may have sent. */
@Injectable()
export class RefusedCalls {
  constructor(
    private readonly trail: AuditTrail,
    private readonly refusals: Refusals,
    private readonly handles: Handles,
  ) {}

  @OnEvent('access.refused')
  async onRefused({ request, caller, scope, forgery }: RefusedAccess): Promise<void> {
    await this.refusals.note(this.trail.actorOf(request, caller), {
      action: 'access.refuse',
      target: `${request.method} ${this.pathOf(request)}`.slice(0, maxTextLength),
      after: forgery === undefined ? { missing_scope: scope } : { reason: forgery },
    });
  }

  /** The id of a request is the right to read it, so the audit has its handle instead. */
  private pathOf({ url, params, route }: GuardedRequest): string {
    const { request_id: given } = params as { request_id?: string };
    if (given === undefined) return url.split('?', 1)[0]!;
    const id = this.handles.idOf(given);
    const { path: template } = route as { path: string };
    return template.replace(':request_id', isUuid(id) ? this.handles.handleOf(id) : '{request_id}');
  }
}

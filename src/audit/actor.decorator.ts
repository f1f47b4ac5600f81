import { Injectable } from '@nestjs/common';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { Call, CallPipe } from '../http/input/decorators.js';
import type { Actor as KnownActor } from './actor.js';
import { AuditTrail } from './audit-trail.js';

@Injectable()
class ActorPipe extends CallPipe<Actor> {
  constructor(private readonly trail: AuditTrail) {
    super();
  }

  of(request: GuardedRequest): Actor {
    return this.trail.actorOf(request, request.caller);
  }
}

export type Actor = KnownActor;

/** The caller of a handler, for the audit. */
export const Actor = (): ParameterDecorator => Call(ActorPipe);

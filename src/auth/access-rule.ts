import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import type { Resolution } from './caller-resolver.js';
import { type Access, type Caller, hasScope } from './caller.js';

const asked = Symbol('access');

interface JudgedRequest extends IncomingMessage {
  [asked]?: Access;
}

/** Decides whether a call may have what it asks for: when it comes in, and again while it is open. */
@Injectable()
export class AccessRule {
  constructor(private readonly config: Config) {}

  /**
   * Requires a valid key with the scope. Without a key, a request's id may be enough (REQUEST_ACCESS). Then there is no
   * caller.
   */
  permit(request: JudgedRequest, resolution: Resolution, access: Access): Caller | undefined {
    request[asked] = access;
    const { scope, needsKey, isOpen } = access;
    if (resolution.kind === 'invalid') throw new DomainError('invalid_key', resolution.reason);
    if (isOpen === true) return resolution.kind === 'caller' ? resolution.caller : undefined;
    const idIsEnough = !needsKey && this.config.requestAccess === 'capability';
    // A browser sends its cookie unasked, so the cookie must take nothing from a client that knows the id.
    const bringsKey = resolution.kind === 'caller' && resolution.caller.sessionId === undefined;
    if (idIsEnough && !bringsKey) return undefined;
    if (resolution.kind === 'forged') throw new DomainError('forbidden', resolution.reason);
    if (resolution.kind === 'anonymous') {
      throw new DomainError('missing_key', 'Send your API key as "Authorization: Key <API key>".');
    }
    if (scope === 'any' || hasScope(resolution.caller, scope)) return resolution.caller;
    throw new DomainError('forbidden', `This API key does not have the scope "${scope}".`);
  }

  /** Checks an admitted call again by what is now known of its key, as if the call came now. */
  permitAgain(request: JudgedRequest, resolution: Resolution): Caller | undefined {
    const access = request[asked];
    return access === undefined ? undefined : this.permit(request, resolution, access);
  }
}

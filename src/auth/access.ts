import type { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import type { Resolution } from './caller-resolver.js';
import type { Caller, Scope } from './caller.js';

/**
 * Demands a valid key with the scope. Without one, a request's id may be enough (REQUEST_ACCESS), and there is
 * no caller.
 */
export function admittedCaller(
  resolution: Resolution,
  scope: Scope,
  requestAccess: Config['requestAccess'],
): Caller | undefined {
  if (resolution.kind === 'invalid') throw new DomainError('invalid_key', resolution.reason);
  if (resolution.kind === 'anonymous') {
    if (scope !== 'submit' && requestAccess === 'capability') return undefined;
    throw new DomainError('missing_key', 'Send your API key as "Authorization: Key <API key>".');
  }
  assertMay(resolution.caller, scope);
  return resolution.caller;
}

function assertMay(caller: Caller, scope: Scope): void {
  if (!caller.scopes.includes(scope)) {
    throw new DomainError('forbidden', `This API key does not have the scope "${scope}".`);
  }
}

import type { Caller, Scope } from './caller.js';
import type { GuardedRequest } from './current-caller.decorator.js';

/** `access.refused`: a valid key was used for what only operators may. */
export interface RefusedAccess {
  request: GuardedRequest;
  caller: Caller;
  scope: Scope;
}

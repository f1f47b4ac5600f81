import type { Caller, Scope } from './caller.js';
import type { GuardedRequest } from './current-caller.decorator.js';

/**
 * `access.refused`: a valid key was used for what only operators may do, or its cookie was sent as another site would
 * send it.
 */
export interface RefusedAccess {
  request: GuardedRequest;
  caller: Caller;
  /** The scope the key lacks. */
  scope?: Scope;
  /** Why a page of another site may have sent the cookie. */
  forgery?: string;
}

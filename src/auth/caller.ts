import type { RateLimits } from '../config/rate-limits.js';
import type { Scope } from '../config/scopes.js';
import { DomainError } from '../errors/domain-error.js';

export { callerScopes, type Scope, scopes } from '../config/scopes.js';

export const operatorScopes: readonly Scope[] = ['observe', 'payloads', 'admin'];

/** For each scope, the scopes that include it. */
const bringing: Readonly<Record<Scope, readonly Scope[]>> = {
  submit: ['submit', 'admin'],
  read: ['read', 'admin'],
  cancel: ['cancel', 'admin'],
  work: ['work', 'admin'],
  observe: ['observe', 'payloads', 'admin'],
  payloads: ['payloads', 'admin'],
  admin: ['admin'],
};

export function hasScope({ scopes: own }: Pick<Caller, 'scopes'>, scope: Scope): boolean {
  return own.includes(scope) || bringing[scope].some((one) => own.includes(one));
}

export function isOperator(caller: Pick<Caller, 'scopes'>): boolean {
  return hasScope(caller, 'observe');
}

/** The most urgent one first. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** The number that is stored. A lower one is claimed first. */
export const rankOf = (priority: Priority): number => priorities.indexOf(priority) - 1;

export const priorityOf = (rank: number): Priority => priorities[rank + 1]!;

/** The holder of a valid key. It carries nothing that is secret. */
export interface Caller {
  readonly keyId: string;
  readonly name: string;
  /** Set if a browser's cookie stands for the key. */
  readonly sessionId?: string;
  readonly scopes: readonly Scope[];
  /** Model ids and `prefix/*` patterns; null: all models. */
  readonly models: readonly string[] | null;
  /** The key's own limits; null: the service's. */
  readonly rateLimitSubmit: RateLimits | null;
  readonly rateLimitOther: RateLimits | null;
  readonly rateLimitBatch: RateLimits | null;
  /** The highest priority of its requests. */
  readonly maxPriority: Priority;
  /** At most this many of its requests may wait; null: any number. */
  readonly maxWaiting: number | null;
  /** At most this many of its requests for one model may run at once; null: any number. */
  readonly maxRunning: number | null;
  /** The weight of its turns where keys share a model. */
  readonly weight: number;
}

/**
 * Throws `forbidden` unless the caller's key is for this model, whether or not such a model exists. `modelId` may be any
 * text. Only one that can name a model is quoted.
 */
export function assertMayUse(caller: Caller, modelId: string): void {
  if (mayUse(caller, modelId)) return;
  const model = isModelPattern(modelId) ? `the model ${modelId}` : 'this model';
  throw new DomainError('forbidden', `This API key may not use ${model}.`);
}

export function mayUse({ models }: Caller, modelId: string): boolean {
  return (
    models === null ||
    models.some((pattern) => {
      return pattern.endsWith('/*') ? modelId.startsWith(pattern.slice(0, -1)) : pattern === modelId;
    })
  );
}

/** Accepts a model id of up to 8 segments, or the first segments of one followed by `/*`. */
export function isModelPattern(text: string): boolean {
  return text.length <= 256 && /^[A-Za-z0-9][\w.-]{0,63}(\/[A-Za-z0-9][\w.-]{0,63}){0,7}(\/\*)?$/.test(text);
}

/** Accepts a name that is printable and not too long for a list. */
export function isKeyName(text: string): boolean {
  return /^[^\p{C}]{1,100}$/u.test(text);
}

/** The conditions on which a call is admitted. */
export interface Access {
  /** `any`: a key with any scope. */
  scope: Scope | 'any';
  /** A key is needed even if the id of a request is enough for other calls (REQUEST_ACCESS). */
  needsKey: boolean;
  /** No key is needed, whatever REQUEST_ACCESS says. The caller of a call with a key is known. */
  isOpen?: boolean;
  /** The call has many submissions. They are counted one by one, by a limit of their own. */
  isMany?: boolean;
  /** No limit counts calls that are allowed. */
  isUncounted?: boolean;
}

import type { RateLimits } from '../config/rate-limits.js';
import type { Scope } from '../config/scopes.js';
import { DomainError } from '../errors/domain-error.js';

export { callerScopes, type Scope, scopes } from '../config/scopes.js';

export const operatorScopes: readonly Scope[] = ['observe', 'payloads', 'admin'];

/** The scopes that bring one. */
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

/** From the most urgent on. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** Who calls: the holder of a valid key. It carries nothing that is secret. */
export interface Caller {
  readonly keyId: string;
  readonly name: string;
  /** Where a browser's cookie stands for the key. */
  readonly sessionId?: string;
  readonly scopes: readonly Scope[];
  /** Model ids and `prefix/*` patterns; null: all models. */
  readonly models: readonly string[] | null;
  /** The key's own limits; null: the service's. */
  readonly rateLimitSubmit: RateLimits | null;
  readonly rateLimitOther: RateLimits | null;
  readonly rateLimitBatch: RateLimits | null;
  /** Of what it submits. */
  readonly maxPriority: Priority;
  /** Of its requests, how many may wait; null: any number. */
  readonly maxWaiting: number | null;
  /** Of its requests for one model, how many may run at once; null: any number. */
  readonly maxRunning: number | null;
  /** Of its turns, where keys share a model. */
  readonly weight: number;
}

/** Throws `forbidden` unless the caller's key is for this model, whether or not such a model exists. */
export function assertMayUse(caller: Caller, modelId: string): void {
  if (mayUse(caller, modelId)) return;
  throw new DomainError('forbidden', `This API key may not use the model ${modelId}.`);
}

export function mayUse({ models }: Caller, modelId: string): boolean {
  return (
    models === null ||
    models.some((pattern) => {
      return pattern.endsWith('/*') ? modelId.startsWith(pattern.slice(0, -1)) : pattern === modelId;
    })
  );
}

/** A model id of up to 8 segments, or the first segments of one followed by `/*`. */
export function isModelPattern(text: string): boolean {
  return text.length <= 256 && /^[A-Za-z0-9][\w.-]{0,63}(\/[A-Za-z0-9][\w.-]{0,63}){0,7}(\/\*)?$/.test(text);
}

/** Printable, and not too long for a list. */
export function isKeyName(text: string): boolean {
  return /^[^\p{C}]{1,100}$/u.test(text);
}

/** What a call needs to be let in. */
export interface Access {
  /** `any`: whatever the key may. */
  scope: Scope | 'any';
  /** Also where the id of a request is enough for others (REQUEST_ACCESS). */
  needsKey: boolean;
  /** Also without a key, whatever REQUEST_ACCESS says; who brings one is told. */
  isOpen?: boolean;
  /** It is many submissions in one call, which a limit of their own refuses one by one. */
  isMany?: boolean;
  /** No limit counts the calls of those who may make it. */
  isUncounted?: boolean;
}

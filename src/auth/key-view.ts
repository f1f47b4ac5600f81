import type { ApiKey } from './api-key.entity.js';

export type KeyState = 'valid' | 'revoked' | 'expired';
export const keyStates: readonly KeyState[] = ['valid', 'revoked', 'expired'];

export function keyState({ revokedAt, expiresAt }: ApiKey, now: Date): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid';
}

/** Returns the changeable fields of a key, as they are audited. */
export function keyTerms(key: ApiKey): Record<string, unknown> {
  return {
    name: key.name,
    scopes: key.scopes,
    models: key.models,
    limits: { submit: key.rateLimitSubmit, other: key.rateLimitOther, batch: key.rateLimitBatch },
    max_priority: key.maxPriority,
    max_waiting: key.maxWaiting,
    max_running: key.maxRunning,
    weight: key.weight,
    expires_at: key.expiresAt,
  };
}

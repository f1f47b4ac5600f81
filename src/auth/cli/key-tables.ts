import type { ApiKey } from '../api-key.entity.js';
import { keyState } from '../key-view.js';

/** Returns a key as `--json` shows it: everything but what could help to guess the secret. */
export function toKeyView(key: ApiKey, now: Date): Record<string, unknown> {
  const { id, name, prefix, scopes, models, rateLimitSubmit, rateLimitOther, rateLimitBatch } = key;
  return {
    id,
    name,
    prefix,
    state: keyState(key, now),
    scopes,
    models,
    rate_limit_submit: rateLimitSubmit,
    rate_limit_other: rateLimitOther,
    rate_limit_batch: rateLimitBatch,
    max_priority: key.maxPriority,
    max_waiting: key.maxWaiting,
    max_running: key.maxRunning,
    weight: key.weight,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
}

export function toTable(keys: readonly ApiKey[], now: Date): string {
  const rows = [
    ['PREFIX', 'NAME', 'STATE', 'SCOPES', 'MODELS', 'LIMITS', 'LAST USED', 'ID'],
    ...keys.map((key) => [
      key.prefix,
      key.name,
      keyState(key, now) === 'valid' && key.expiresAt !== null
        ? `until ${toMinute(key.expiresAt)}`
        : keyState(key, now),
      key.scopes.join(','),
      key.models === null ? 'all' : key.models.join(','),
      toLimits(key),
      key.lastUsedAt === null ? 'never' : toMinute(key.lastUsedAt),
      key.id,
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => [...row[column]!].length)));
  const pad = (cell: string, column: number): string => cell + ' '.repeat(widths[column]! - [...cell].length);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

type KeyLimits = Pick<
  ApiKey,
  'rateLimitSubmit' | 'rateLimitOther' | 'rateLimitBatch' | 'maxRunning' | 'maxWaiting' | 'weight'
>;

export function toLimits(key: KeyLimits): string {
  const { rateLimitSubmit, rateLimitOther, rateLimitBatch, maxRunning, maxWaiting, weight } = key;
  const limits = [
    rateLimitSubmit === null ? '' : `submit ${rateLimitSubmit}`,
    rateLimitOther === null ? '' : `other ${rateLimitOther}`,
    rateLimitBatch === null ? '' : `batch ${rateLimitBatch}`,
    weight === 1 ? '' : `weight ${weight}`,
    maxRunning === null ? '' : `running ${maxRunning}`,
    maxWaiting === null ? '' : `waiting ${maxWaiting}`,
  ];
  return limits.filter(Boolean).join(' ') || 'default';
}

/** `2026-01-31 09:05Z` */
function toMinute(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

import type { Database } from '../../database/database.js';
import type { Priority, Scope } from '../caller.js';

export interface FoundKey {
  /** SHA-256 in hex. */
  hash: string;
  id: string;
  scopes: Scope[];
  models: string[] | null;
  rateLimitSubmit: string | null;
  rateLimitOther: string | null;
  maxPriority: Priority | null;
  maxWaiting: number | null;
  maxRunning: number | null;
  weight: number;
  /** Until it expires; null: never. */
  livesMs: number | null;
  /** For a minute, as far as that is written. */
  wasUnused: boolean;
}

/**
 * The keys among these hashes that are valid now, by the database's clock.
 * Survives: a key revoked or expired a moment ago is not found, whatever any process remembers.
 * Index: api_key_hash_is_unique.
 */
export function findKeys(database: Database, hashes: readonly string[]): Promise<FoundKey[]> {
  return database.query<FoundKey>(statement, [hashes.map((hash) => Buffer.from(hash, 'hex'))]);
}

const statement = {
  name: 'find_keys',
  text: `
    SELECT encode(hash, 'hex') AS hash, id, scopes, models,
           rate_limit_submit AS "rateLimitSubmit", rate_limit_other AS "rateLimitOther",
           max_priority AS "maxPriority", max_waiting AS "maxWaiting",
           max_running AS "maxRunning", weight,
           (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS "livesMs",
           last_used_at IS NULL OR last_used_at < now() - interval '1 minute' AS "wasUnused"
    FROM api_key
    WHERE hash = ANY ($1::bytea[])
      AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
};

import type { Database } from '../../database/database.js';
import { byteaArray } from '../../database/text-array.js';
import type { Priority, Scope } from '../caller.js';
import { keyChanges } from './count-key-changes.js';

export interface FoundKey {
  /** SHA-256 in hex. */
  hash: string;
  id: string;
  name: string;
  /** The session that the hash is of; null: it is of a key. */
  sessionId: string | null;
  scopes: Scope[];
  models: string[] | null;
  rateLimitSubmit: string | null;
  rateLimitOther: string | null;
  rateLimitBatch: string | null;
  maxPriority: Priority | null;
  maxWaiting: number | null;
  maxRunning: number | null;
  weight: number;
  /** Milliseconds until it expires; null: never. */
  livesMs: number | null;
  /** It was not used for half a minute, as far as that is written. */
  wasUnused: boolean;
  /** The version of `countKeyChanges` in the snapshot that the key is from. */
  changes: string;
}

/**
 * Returns the keys behind these hashes, their own or those of their sessions, that are valid by the database's clock.
 * Race: a key that was revoked or expired a moment ago is not found, whatever a process remembers.
 * Index: api_key_hash_is_unique; session_hash_is_unique, then api_key_pkey.
 */
export function findKeys(database: Database, hashes: readonly string[]): Promise<FoundKey[]> {
  return database.query<FoundKey>(statement, [byteaArray(hashes)]);
}

const ofKey = `api_key.id, name, scopes, models, rate_limit_submit, rate_limit_other, rate_limit_batch, max_priority,
                 max_waiting, max_running, weight, last_used_at, revoked_at`;

const statement = {
  name: 'find_keys',
  text: `
    SELECT encode(hash, 'hex') AS hash, id, name, session_id AS "sessionId", scopes, models,
           rate_limit_submit AS "rateLimitSubmit", rate_limit_other AS "rateLimitOther",
           rate_limit_batch AS "rateLimitBatch", max_priority AS "maxPriority", max_waiting AS "maxWaiting",
           max_running AS "maxRunning", weight,
           (extract(epoch FROM ends_at - clock_timestamp()) * 1000)::float8 AS "livesMs",
           last_used_at IS NULL OR last_used_at < now() - interval '30 seconds' AS "wasUnused",
           ${keyChanges} AS changes
    FROM (SELECT hash, NULL::uuid AS session_id, expires_at AS ends_at, ${ofKey}
          FROM api_key WHERE hash = ANY ($1::bytea[])
          UNION ALL
          SELECT session.hash, session.id, least(api_key.expires_at, session.expires_at), ${ofKey}
          FROM session
          JOIN api_key ON api_key.id = session.api_key_id
          WHERE session.hash = ANY ($1::bytea[]) AND ended_at IS NULL) AS found
    WHERE revoked_at IS NULL
      AND (ends_at > clock_timestamp()) IS NOT false`,
};

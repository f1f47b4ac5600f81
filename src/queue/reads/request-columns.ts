import { epochMs } from '../../database/epoch-ms.js';

/**
 * The beginning of an error, as the service wrote it. `->` would read all of it, and fails on an escape that
 * PostgreSQL cannot hold. An operator's list, or an erasure, would then fail because of one row.
 */
const errorHead = 'left(error::text, 100)';
export const errorCode = `substring(${errorHead} FROM '"code" ?: ?"([a-z_]+)"')`;
export const errorStatus = `substring(${errorHead} FROM '"status" ?: ?([0-9]+)')::integer`;

/** Columns of a `RequestRow`, from the table `request` or a subquery of that name. */
export const requestColumns = `request.id, model_id AS "modelId", api_key_id AS "keyId", state, outcome, priority,
       virtual_start AS start, seq, attempt, failed_attempts AS "failedAttempts", lost_attempts AS "lostAttempts", error, tags,
       retry_of AS "retryOf", retried_as AS "retriedAs", has_own_expiry AS "hasOwnExpiry",
       request.timeout_ms IS NOT NULL AS "hasOwnTimeout",
       CASE WHEN coalesce(started_at, completed_at) IS NOT NULL THEN
         greatest(0, extract(epoch FROM coalesce(started_at, completed_at) - greatest(created_at, not_before)) * 1000)::float8
       END AS "queueMs",
       inference_ms AS "inferenceMs", usage, ${epochMs('created_at')} AS "createdAtMs", ${epochMs('started_at')} AS "startedAtMs",
       ${epochMs('completed_at')} AS "completedAtMs", ${epochMs('not_before')} AS "notBeforeMs", ${epochMs('erased_at')} AS "erasedAtMs"`;

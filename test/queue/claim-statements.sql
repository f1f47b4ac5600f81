-- The statements that make, renew, find and take leases, as the database gets them: the test beside this file holds
-- them. Only white space may differ.

-- claim
WITH due AS MATERIALIZED (
  SELECT ctid FROM queue_entry
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= ($5::smallint, $6::bigint, $7::bigint)
    AND (expires_at IS NULL OR expires_at > now())
    AND EXISTS (SELECT FROM node WHERE node.id = $3::uuid AND node.draining_since IS NULL)
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = $1::text AND (paused IS NOT NULL OR slot_round <> $10::integer)
    )
    AND now() < to_timestamp($8::float8 / 1000)
  ORDER BY priority, virtual_start, seq LIMIT $2::integer FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE recent_request AS request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING request.id, request.priority, request.virtual_start, request.seq, request.attempt,
            request.failed_attempts, request.lost_attempts, request.timeout_ms, request.input, request.started_at,
            request.traceparent, request.tracestate,
            greatest(request.created_at, request.not_before) AS waits_since, taken.bounded_key_id
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at, bounded_key_id)
  SELECT id, $9::uuid, $1::text, $3::uuid, attempt, started_at,
         started_at + coalesce(timeout_ms, $4::float8) * interval '1 millisecond', bounded_key_id
  FROM started
)
SELECT id, priority, virtual_start AS start, seq, attempt, failed_attempts AS "failedAttempts",
       lost_attempts AS "lostAttempts", bounded_key_id AS "boundedKeyId", timeout_ms AS "timeoutMs", traceparent,
       tracestate, input::text AS input, extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM started;

-- claim_reserved
WITH due AS MATERIALIZED (
  SELECT ctid FROM queue_entry
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= ($5::smallint, $6::bigint, $7::bigint)
    AND (expires_at IS NULL OR expires_at > now())
    AND EXISTS (SELECT FROM node WHERE node.id = $3::uuid AND node.draining_since IS NULL)
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = $1::text AND (paused IS NOT NULL OR slot_round <> $10::integer)
    )
    AND priority <= $11::smallint
    AND now() < to_timestamp($8::float8 / 1000)
  ORDER BY priority, virtual_start, seq LIMIT $2::integer FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE recent_request AS request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING request.id, request.priority, request.virtual_start, request.seq, request.attempt,
            request.failed_attempts, request.lost_attempts, request.timeout_ms, request.input, request.started_at,
            request.traceparent, request.tracestate,
            greatest(request.created_at, request.not_before) AS waits_since, taken.bounded_key_id
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at, bounded_key_id)
  SELECT id, $9::uuid, $1::text, $3::uuid, attempt, started_at,
         started_at + coalesce(timeout_ms, $4::float8) * interval '1 millisecond', bounded_key_id
  FROM started
)
SELECT id, priority, virtual_start AS start, seq, attempt, failed_attempts AS "failedAttempts",
       lost_attempts AS "lostAttempts", bounded_key_id AS "boundedKeyId", timeout_ms AS "timeoutMs", traceparent,
       tracestate, input::text AS input, extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM started;

-- lock_model
SELECT FROM model WHERE id = $1::text FOR NO KEY UPDATE;

-- claim_for_workers
WITH slot AS MATERIALIZED (
  SELECT row_number() OVER () AS number, wanted.number - 1 AS slot, wanted.worker_id, wanted.claim_id, wanted.claim_hash,
         wanted.token
  FROM unnest($7::uuid[], $8::text[], $9::bytea[], $10::uuid[])
    WITH ORDINALITY AS wanted (worker_id, claim_id, claim_hash, token, number)
  WHERE NOT EXISTS (SELECT FROM lease WHERE lease.claim_id = wanted.claim_id)
    AND NOT EXISTS (
      SELECT FROM worker
      WHERE worker.uid = wanted.worker_id AND (told <> 'run' OR claims_from > clock_timestamp())
    )
), room AS MATERIALIZED (
  SELECT CASE WHEN coalesce(concurrency_override, concurrency) IS NOT NULL THEN greatest(
    0,
    coalesce(concurrency_override, concurrency)
      - (SELECT count(*) FROM lease WHERE lease.model_id = $1::text AND worker_id IS NOT NULL)
      - (SELECT coalesce(sum(slots), 0) FROM slot_grant WHERE slot_grant.model_id = $1::text)
  ) END AS runs
  FROM model
  WHERE id = $1::text
), due AS MATERIALIZED (
  SELECT ctid FROM queue_entry
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= ($2::smallint, $3::bigint, $4::bigint)
    AND (expires_at IS NULL OR expires_at > now())
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = $1::text AND (paused IS NOT NULL OR group_id IS NOT NULL OR reserve_high + reserve_normal > 0)
    )
    AND now() < to_timestamp($6::float8 / 1000)
  ORDER BY priority, virtual_start, seq
  LIMIT least((SELECT count(*) FROM slot), (SELECT runs FROM room)) FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE recent_request AS request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING request.*, taken.bounded_key_id,
            request.started_at + coalesce(timeout_ms, $5::float8) * interval '1 millisecond' AS deadline_at,
            greatest(request.created_at, request.not_before) AS waits_since
), assigned AS MATERIALIZED (
  SELECT numbered.*, slot.slot, slot.worker_id, slot.claim_id, slot.claim_hash, slot.token, 1 AS handed
  FROM (SELECT started.*, row_number() OVER () AS number FROM started) AS numbered
  JOIN slot USING (number)
), leased AS (
  INSERT INTO lease (request_id, token, model_id, attempt, started_at, deadline_at, bounded_key_id, worker_id, claim_id,
                     claim_hash, handed, expires_at)
  SELECT id, token, model_id, attempt, started_at, deadline_at, bounded_key_id, worker_id, claim_id, claim_hash, handed,
         clock_timestamp() + interval '10 seconds'
  FROM assigned
)
SELECT assigned.id, assigned.token, split_part(assigned.claim_id, ' ', 1) AS "keyId",
       assigned.model_id AS "modelId", assigned.worker_id AS "workerId", assigned.claim_hash AS "claimHash", assigned.handed,
       assigned.priority, assigned.virtual_start AS start, assigned.seq, assigned.attempt,
       assigned.failed_attempts AS "failedAttempts", assigned.lost_attempts AS "lostAttempts",
       assigned.timeout_ms AS "timeoutMs", assigned.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM assigned.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM assigned.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       assigned.traceparent, assigned.tracestate, assigned.tags,
       (SELECT name FROM api_key WHERE api_key.id = assigned.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(assigned.input) <= CASE
           WHEN pg_column_compression(assigned.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(assigned.input::text) <= 262144 THEN assigned.input::text END
       END AS input, slot::integer,
       extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM assigned;

-- lock_group
SELECT FROM model WHERE group_id = $1::text ORDER BY id FOR NO KEY UPDATE;

-- claim_shared_for_workers
WITH slot AS MATERIALIZED (
  SELECT row_number() OVER () AS number, wanted.number - 1 AS slot, wanted.worker_id, wanted.claim_id, wanted.claim_hash,
         wanted.token
  FROM unnest($7::uuid[], $8::text[], $9::bytea[], $10::uuid[])
    WITH ORDINALITY AS wanted (worker_id, claim_id, claim_hash, token, number)
  WHERE NOT EXISTS (SELECT FROM lease WHERE lease.claim_id = wanted.claim_id)
    AND NOT EXISTS (
      SELECT FROM worker
      WHERE worker.uid = wanted.worker_id AND (told <> 'run' OR claims_from > clock_timestamp())
    )
), used AS (
  SELECT coalesce(sum(runs), 0) AS runs, coalesce(sum(below_high), 0) AS below_high,
         coalesce(sum(below_normal), 0) AS below_normal
  FROM (
    SELECT 1 AS runs, (priority >= 0)::integer AS below_high, (priority >= 1)::integer AS below_normal
    FROM lease JOIN recent_request AS request ON request.id = lease.request_id
    WHERE lease.model_id = $1::text AND worker_id IS NOT NULL
    UNION ALL
    SELECT slots, coalesce(below_high, slots), coalesce(below_normal, slots)
    FROM slot_grant
    WHERE model_id = $1::text
  ) AS part
), free AS (
  SELECT least(
           concurrency - used.runs,
           group_concurrency
             - (SELECT count(*) FROM lease JOIN model AS member ON member.id = lease.model_id
                WHERE member.group_id = $11::text AND worker_id IS NOT NULL)
             - (SELECT coalesce(sum(slots), 0) FROM slot_grant JOIN model AS member ON member.id = slot_grant.model_id
                WHERE member.group_id = $11::text)
         ) AS runs,
         greatest(1, concurrency - reserve_high) - used.below_high AS below_high,
         greatest(1, concurrency - reserve_high - reserve_normal) - used.below_normal AS below_normal
  FROM (SELECT coalesce(concurrency_override, concurrency) AS concurrency, group_concurrency, reserve_high,
               reserve_normal
        FROM model WHERE id = $1::text) AS model, used
), room AS MATERIALIZED (
  SELECT greatest(0, least(runs, CASE WHEN below_high > 0 THEN below_high END,
                           CASE WHEN below_high > 0 AND below_normal > 0 THEN below_normal END)) AS runs,
         CASE WHEN below_high <= 0 THEN -1 WHEN below_normal <= 0 THEN 0 ELSE 1 END AS lowest_priority
  FROM free
), due AS MATERIALIZED (
  SELECT ctid FROM queue_entry
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= ($2::smallint, $3::bigint, $4::bigint)
    AND (expires_at IS NULL OR expires_at > now())
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = $1::text AND (paused IS NOT NULL OR group_id IS DISTINCT FROM $11::text)
    )
    AND priority <= (SELECT lowest_priority FROM room)
    AND now() < to_timestamp($6::float8 / 1000)
  ORDER BY priority, virtual_start, seq
  LIMIT least((SELECT count(*) FROM slot), (SELECT runs FROM room)) FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM queue_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE recent_request AS request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING request.*, taken.bounded_key_id,
            request.started_at + coalesce(timeout_ms, $5::float8) * interval '1 millisecond' AS deadline_at,
            greatest(request.created_at, request.not_before) AS waits_since
), assigned AS MATERIALIZED (
  SELECT numbered.*, slot.slot, slot.worker_id, slot.claim_id, slot.claim_hash, slot.token, 1 AS handed
  FROM (SELECT started.*, row_number() OVER () AS number FROM started) AS numbered
  JOIN slot USING (number)
), leased AS (
  INSERT INTO lease (request_id, token, model_id, attempt, started_at, deadline_at, bounded_key_id, worker_id, claim_id,
                     claim_hash, handed, expires_at)
  SELECT id, token, model_id, attempt, started_at, deadline_at, bounded_key_id, worker_id, claim_id, claim_hash, handed,
         clock_timestamp() + interval '10 seconds'
  FROM assigned
)
SELECT assigned.id, assigned.token, split_part(assigned.claim_id, ' ', 1) AS "keyId",
       assigned.model_id AS "modelId", assigned.worker_id AS "workerId", assigned.claim_hash AS "claimHash", assigned.handed,
       assigned.priority, assigned.virtual_start AS start, assigned.seq, assigned.attempt,
       assigned.failed_attempts AS "failedAttempts", assigned.lost_attempts AS "lostAttempts",
       assigned.timeout_ms AS "timeoutMs", assigned.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM assigned.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM assigned.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       assigned.traceparent, assigned.tracestate, assigned.tags,
       (SELECT name FROM api_key WHERE api_key.id = assigned.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(assigned.input) <= CASE
           WHEN pg_column_compression(assigned.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(assigned.input::text) <= 262144 THEN assigned.input::text END
       END AS input, slot::integer,
       extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM assigned;

-- give_up_nodes
WITH lost AS (
  DELETE FROM node
  WHERE id <> $1::uuid
    AND heartbeat_at < least(clock_timestamp(), to_timestamp($3::float8 / 1000)) - $2::float8 * interval '1 millisecond'
  RETURNING *
), kept AS (
  UPDATE node_name
  SET lost_at = clock_timestamp(),
      lost_node = jsonb_build_object(
        'role', lost.role,
        'version', lost.version,
        'startedAtMs', extract(epoch FROM lost.started_at) * 1000,
        'heartbeatAtMs', extract(epoch FROM lost.heartbeat_at) * 1000,
        'runs', (SELECT count(*) FROM lease WHERE lease.node_id = lost.id)
      )
  FROM lost
  WHERE node_name.id = lost.id
)
SELECT id, name FROM lost;

-- rescue
WITH lost AS MATERIALIZED (
  SELECT request_id FROM lease
  WHERE worker_id IS NULL
    AND (NOT EXISTS (SELECT FROM node WHERE node.id = lease.node_id)
         OR deadline_at < least(clock_timestamp(), to_timestamp($5::float8 / 1000)) - interval '30 seconds')
  LIMIT 500 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM lease USING lost
  WHERE lease.request_id = lost.request_id
  RETURNING lease.*, clock_timestamp() AS ended_at
), verdict AS (
  SELECT taken.*, 1 - followed.runs AS losses,
         CASE
           WHEN taken.cancel_requested_at IS NOT NULL THEN 'cancelled'
           WHEN request.lost_attempts + 1 >= coalesce(($4::jsonb ->> request.model_id)::integer, $1::integer)
                AND followed.runs = 0 THEN 'failed'
         END AS outcome
  FROM taken
  JOIN recent_request AS request ON request.id = taken.request_id
  CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM followed_run
      WHERE followed_run.request_id = taken.request_id AND (NOT followed_run.is_given_up AND followed_run.attempt = request.failed_attempts + request.lost_attempts + 1)
    )::integer AS runs
  ) AS followed
), hopeless AS (
  SELECT * FROM verdict WHERE outcome IS NOT NULL
), completed AS (
  UPDATE recent_request AS request
  SET state = 'COMPLETED', outcome = hopeless.outcome, completed_at = hopeless.ended_at, error = CASE hopeless.outcome WHEN 'failed' THEN $2::json ELSE $3::json END, lost_attempts = lost_attempts + 1, inference_ms = greatest(0, least(2147483647, extract(epoch FROM hopeless.ended_at - hopeless.started_at) * 1000))
  FROM hopeless
  WHERE request.id = hopeless.request_id AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.attempt, request.model_id, request.api_key_id, request.priority, request.virtual_start, request.seq, request.outcome, request.failed_attempts, request.lost_attempts, request.webhook_url
), webhook_request_completed AS (
  INSERT INTO webhook_delivery
    (id, event, request_id, api_key_id, endpoint_id, url, host)
  SELECT overlay(overlay(
    encode(substr(sha256(convert_to(concat_ws(' ', 'request.completed', request_id, endpoint_id, url), 'UTF8')), 1, 16), 'hex')
    PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid, 'request.completed', request_id, api_key_id, endpoint_id, url, CASE WHEN starts_with(url, 'https://') OR starts_with(url, 'http://')
    THEN left(split_part(translate(lower(url COLLATE "C"), '?#', '//'), '/', 3), 255) ELSE '' END
  FROM (
    SELECT id AS request_id, api_key_id, NULL::uuid AS endpoint_id, webhook_url AS url
    FROM completed
    WHERE webhook_url IS NOT NULL
    UNION ALL
    SELECT changed.id, changed.api_key_id, endpoint.id, endpoint.url
    FROM completed AS changed
    JOIN webhook_endpoint AS endpoint ON endpoint.api_key_id = changed.api_key_id
    WHERE endpoint.disabled_at IS NULL AND 'request.completed' = ANY (endpoint.events)
      AND endpoint.url IS DISTINCT FROM webhook_url
  ) AS receiver
), requeued AS (
  UPDATE recent_request AS request
  SET state = 'IN_QUEUE',
      lost_attempts = lost_attempts + verdict.losses,
      inference_ms = greatest(0, least(2147483647, extract(epoch FROM verdict.ended_at - verdict.started_at) * 1000))
  FROM verdict
  WHERE request.id = verdict.request_id
    AND verdict.outcome IS NULL
    AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.model_id, request.api_key_id, request.priority, request.virtual_start, request.seq,
            request.attempt, request.expires_at, request.failed_attempts, request.lost_attempts, verdict.losses,
            verdict.bounded_key_id
), waiting AS (
  INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at, bounded_key_id)
  SELECT model_id, priority, virtual_start, seq, id, api_key_id, attempt, expires_at, bounded_key_id
  FROM requeued
), acquitted AS (
  DELETE FROM suspect USING requeued WHERE suspect.request_id = requeued.id
), rescued AS (
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt,
         failed_attempts + lost_attempts AS lost_attempt, outcome, false AS is_followed
  FROM completed
  UNION ALL
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt, failed_attempts + lost_attempts + 1 - losses,
         NULL, losses = 0
  FROM requeued
), recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, worker_id, token_hash, started_at, ended_at, outcome, error_code,
                       error_message)
  SELECT request_id, attempt, node_id, worker_id, sha256(uuid_send(verdict.token) || convert_to(split_part(verdict.claim_id, ' ', 1), 'UTF8')), started_at, ended_at,
         CASE WHEN outcome IS NULL AND losses = 0 THEN 'returned' ELSE 'lost' END,
         CASE WHEN outcome IS NOT NULL OR losses = 1 THEN 'node_lost' END,
         CASE WHEN outcome IS NOT NULL OR losses = 1 THEN 'The node that ran it was lost.' END
  FROM verdict
  WHERE request_id IN (SELECT id FROM rescued)
), requeued_event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT id, 'requeued', attempt FROM requeued
)
SELECT id, model_id AS "modelId", priority, virtual_start AS start, seq, attempt,
       ('x' || right(api_key_id::text, 12))::bit(48)::bigint AS "orderKey", lost_attempt AS "lostAttempt", outcome, is_followed AS "isFollowed" FROM rescued;

-- drop_grants
DELETE FROM slot_grant
WHERE NOT EXISTS (SELECT FROM node WHERE node.id = slot_grant.node_id)
  AND NOT EXISTS (SELECT FROM lease WHERE lease.node_id = slot_grant.node_id);

-- rescue_from_workers
WITH lost AS MATERIALIZED (
  SELECT request_id FROM lease
  WHERE worker_id IS NOT NULL AND expires_at < least(clock_timestamp(), to_timestamp($5::float8 / 1000))
  LIMIT 500 FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM lease USING lost
  WHERE lease.request_id = lost.request_id
  RETURNING lease.*, clock_timestamp() AS ended_at
), verdict AS (
  SELECT taken.*, 1 - followed.runs AS losses,
         CASE
           WHEN taken.cancel_requested_at IS NOT NULL THEN 'cancelled'
           WHEN request.lost_attempts + 1 >= coalesce(($4::jsonb ->> request.model_id)::integer, $1::integer)
                AND followed.runs = 0 THEN 'failed'
         END AS outcome
  FROM taken
  JOIN recent_request AS request ON request.id = taken.request_id
  CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM followed_run
      WHERE followed_run.request_id = taken.request_id AND (NOT followed_run.is_given_up AND followed_run.attempt = request.failed_attempts + request.lost_attempts + 1)
    )::integer AS runs
  ) AS followed
), hopeless AS (
  SELECT * FROM verdict WHERE outcome IS NOT NULL
), completed AS (
  UPDATE recent_request AS request
  SET state = 'COMPLETED', outcome = hopeless.outcome, completed_at = hopeless.ended_at, error = CASE hopeless.outcome WHEN 'failed' THEN $2::json ELSE $3::json END, lost_attempts = lost_attempts + 1, inference_ms = greatest(0, least(2147483647, extract(epoch FROM hopeless.ended_at - hopeless.started_at) * 1000))
  FROM hopeless
  WHERE request.id = hopeless.request_id AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.attempt, request.model_id, request.api_key_id, request.priority, request.virtual_start, request.seq, request.outcome, request.failed_attempts, request.lost_attempts, request.webhook_url
), webhook_request_completed AS (
  INSERT INTO webhook_delivery
    (id, event, request_id, api_key_id, endpoint_id, url, host)
  SELECT overlay(overlay(
    encode(substr(sha256(convert_to(concat_ws(' ', 'request.completed', request_id, endpoint_id, url), 'UTF8')), 1, 16), 'hex')
    PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid, 'request.completed', request_id, api_key_id, endpoint_id, url, CASE WHEN starts_with(url, 'https://') OR starts_with(url, 'http://')
    THEN left(split_part(translate(lower(url COLLATE "C"), '?#', '//'), '/', 3), 255) ELSE '' END
  FROM (
    SELECT id AS request_id, api_key_id, NULL::uuid AS endpoint_id, webhook_url AS url
    FROM completed
    WHERE webhook_url IS NOT NULL
    UNION ALL
    SELECT changed.id, changed.api_key_id, endpoint.id, endpoint.url
    FROM completed AS changed
    JOIN webhook_endpoint AS endpoint ON endpoint.api_key_id = changed.api_key_id
    WHERE endpoint.disabled_at IS NULL AND 'request.completed' = ANY (endpoint.events)
      AND endpoint.url IS DISTINCT FROM webhook_url
  ) AS receiver
), requeued AS (
  UPDATE recent_request AS request
  SET state = 'IN_QUEUE',
      lost_attempts = lost_attempts + verdict.losses,
      inference_ms = greatest(0, least(2147483647, extract(epoch FROM verdict.ended_at - verdict.started_at) * 1000))
  FROM verdict
  WHERE request.id = verdict.request_id
    AND verdict.outcome IS NULL
    AND request.state = 'IN_PROGRESS'
  RETURNING request.id, request.model_id, request.api_key_id, request.priority, request.virtual_start, request.seq,
            request.attempt, request.expires_at, request.failed_attempts, request.lost_attempts, verdict.losses,
            verdict.bounded_key_id
), waiting AS (
  INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at, bounded_key_id)
  SELECT model_id, priority, virtual_start, seq, id, api_key_id, attempt, expires_at, bounded_key_id
  FROM requeued
), acquitted AS (
  DELETE FROM suspect USING requeued WHERE suspect.request_id = requeued.id
), rescued AS (
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt,
         failed_attempts + lost_attempts AS lost_attempt, outcome, false AS is_followed
  FROM completed
  UNION ALL
  SELECT id, model_id, api_key_id, priority, virtual_start, seq, attempt, failed_attempts + lost_attempts + 1 - losses,
         NULL, losses = 0
  FROM requeued
), recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, worker_id, token_hash, started_at, ended_at, outcome, error_code,
                       error_message)
  SELECT request_id, attempt, node_id, worker_id, sha256(uuid_send(verdict.token) || convert_to(split_part(verdict.claim_id, ' ', 1), 'UTF8')), started_at, ended_at,
         CASE WHEN outcome IS NULL AND losses = 0 THEN 'returned' ELSE 'lost' END,
         CASE WHEN outcome IS NOT NULL OR losses = 1 THEN 'worker_lost' END,
         CASE WHEN outcome IS NOT NULL OR losses = 1 THEN 'The worker that ran it was lost.' END
  FROM verdict
  WHERE request_id IN (SELECT id FROM rescued)
), requeued_event AS (
  INSERT INTO request_event (request_id, kind, attempt)
  SELECT id, 'requeued', attempt FROM requeued
)
SELECT id, model_id AS "modelId", priority, virtual_start AS start, seq, attempt,
       ('x' || right(api_key_id::text, 12))::bit(48)::bigint AS "orderKey", lost_attempt AS "lostAttempt", outcome, is_followed AS "isFollowed" FROM rescued;

-- renew_leases
WITH held AS MATERIALIZED (
  SELECT lease.request_id, lease.token, lease.cancel_requested_at
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS beaten (request_id, token, key_id)
  JOIN lease ON lease.request_id = beaten.request_id AND lease.token = beaten.token
  WHERE lease.worker_id IS NOT NULL AND split_part(lease.claim_id, ' ', 1) = beaten.key_id
  ORDER BY lease.request_id FOR NO KEY UPDATE OF lease
), renewed AS (
  UPDATE lease SET expires_at = clock_timestamp() + interval '30 seconds'
  FROM held
  WHERE lease.request_id = held.request_id
)
SELECT token, cancel_requested_at IS NOT NULL AS cancel FROM held;

-- find_worker_leases
SELECT request.id, lease.token, split_part(lease.claim_id, ' ', 1) AS "keyId",
       request.model_id AS "modelId", lease.worker_id AS "workerId", lease.claim_hash AS "claimHash", lease.handed,
       request.priority, request.virtual_start AS start, request.seq, lease.attempt,
       request.failed_attempts AS "failedAttempts", request.lost_attempts AS "lostAttempts",
       request.timeout_ms AS "timeoutMs", lease.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM lease.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM lease.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       request.traceparent, request.tracestate, request.tags,
       (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(request.input) <= CASE
           WHEN pg_column_compression(request.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(request.input::text) <= 262144 THEN request.input::text END
       END AS input
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS wanted (request_id, token, key_id)
JOIN lease ON lease.request_id = wanted.request_id AND lease.token = wanted.token
JOIN recent_request AS request ON request.id = lease.request_id
WHERE lease.worker_id IS NOT NULL AND split_part(lease.claim_id, ' ', 1) = wanted.key_id;

-- find_claims
WITH again AS (
  UPDATE lease SET handed = handed + 1, expires_at = greatest(expires_at, clock_timestamp() + interval '10 seconds')
  WHERE claim_id = ANY ($1::text[])
  RETURNING *
)
SELECT request.id, again.token, split_part(again.claim_id, ' ', 1) AS "keyId",
       request.model_id AS "modelId", again.worker_id AS "workerId", again.claim_hash AS "claimHash", again.handed,
       request.priority, request.virtual_start AS start, request.seq, again.attempt,
       request.failed_attempts AS "failedAttempts", request.lost_attempts AS "lostAttempts",
       request.timeout_ms AS "timeoutMs", again.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM again.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM again.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       request.traceparent, request.tracestate, request.tags,
       (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(request.input) <= CASE
           WHEN pg_column_compression(request.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(request.input::text) <= 262144 THEN request.input::text END
       END AS input, again.claim_id AS "claimId"
FROM again
JOIN recent_request AS request ON request.id = again.request_id;

-- overdue_worker_leases
SELECT request.id, lease.token, split_part(lease.claim_id, ' ', 1) AS "keyId",
       request.model_id AS "modelId", lease.worker_id AS "workerId", lease.claim_hash AS "claimHash", lease.handed,
       request.priority, request.virtual_start AS start, request.seq, lease.attempt,
       request.failed_attempts AS "failedAttempts", request.lost_attempts AS "lostAttempts",
       request.timeout_ms AS "timeoutMs", lease.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM lease.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM lease.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       request.traceparent, request.tracestate, request.tags,
       (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(request.input) <= CASE
           WHEN pg_column_compression(request.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(request.input::text) <= 262144 THEN request.input::text END
       END AS input
FROM lease
JOIN recent_request AS request ON request.id = lease.request_id
WHERE worker_id IS NOT NULL AND deadline_at < clock_timestamp()
LIMIT 500;

-- leases_of_worker
SELECT request.id, lease.token, split_part(lease.claim_id, ' ', 1) AS "keyId",
       request.model_id AS "modelId", lease.worker_id AS "workerId", lease.claim_hash AS "claimHash", lease.handed,
       request.priority, request.virtual_start AS start, request.seq, lease.attempt,
       request.failed_attempts AS "failedAttempts", request.lost_attempts AS "lostAttempts",
       request.timeout_ms AS "timeoutMs", lease.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM lease.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM lease.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       request.traceparent, request.tracestate, request.tags,
       (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(request.input) <= CASE
           WHEN pg_column_compression(request.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(request.input::text) <= 262144 THEN request.input::text END
       END AS input
FROM lease
JOIN recent_request AS request ON request.id = lease.request_id
WHERE worker_id IS NOT NULL AND worker_id = $1::uuid
LIMIT 500;

-- unread_claims
SELECT request.id, lease.token, split_part(lease.claim_id, ' ', 1) AS "keyId",
       request.model_id AS "modelId", lease.worker_id AS "workerId", lease.claim_hash AS "claimHash", lease.handed,
       request.priority, request.virtual_start AS start, request.seq, lease.attempt,
       request.failed_attempts AS "failedAttempts", request.lost_attempts AS "lostAttempts",
       request.timeout_ms AS "timeoutMs", lease.bounded_key_id AS "boundedKeyId",
       extract(epoch FROM lease.started_at)::float8 * 1000 AS "startedAtMs", extract(epoch FROM lease.deadline_at)::float8 * 1000 AS "deadlineAtMs",
       request.traceparent, request.tracestate, request.tags,
       (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
       CASE
         WHEN pg_column_size(request.input) <= CASE
           WHEN pg_column_compression(request.input) IS NULL THEN 262144 + 4 ELSE 16384
         END THEN CASE WHEN octet_length(request.input::text) <= 262144 THEN request.input::text END
       END AS input
FROM lease
JOIN recent_request AS request ON request.id = lease.request_id
WHERE worker_id IS NOT NULL AND lease.token = ANY ($1::uuid[])
  AND lease.handed = ($2::integer[])[array_position($1::uuid[], lease.token)]
LIMIT 500;

-- worker_run_ended
SELECT outcome FROM attempt
WHERE request_id = $1::uuid AND (request_id > '01890999-7800-0000-0000-000000000000' OR request_id = '01890999-7800-0000-0000-000000000000') AND (request_id < '01890ebf-d3ff-ffff-ffff-ffffffffffff' OR request_id = '01890ebf-d3ff-ffff-ffff-ffffffffffff')
  AND token_hash IN (sha256(uuid_send($2::uuid) || convert_to($3::text, 'UTF8')), sha256(uuid_send($2::uuid)));

-- submit_started
WITH chance AS MATERIALIZED (
  SELECT clock_timestamp() AS at
  WHERE EXISTS (SELECT FROM node WHERE node.id = $10::uuid AND node.draining_since IS NULL)
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = $2::text AND (paused IS NOT NULL OR slot_round <> $15::integer)
    )
    AND clock_timestamp() < to_timestamp($16::float8 / 1000)
    AND NOT EXISTS (
      SELECT FROM queue_entry
      WHERE model_id = $2::text AND (priority, virtual_start, seq) >= ($12::smallint, $13::bigint, $14::bigint)
    )
    AND NOT EXISTS (SELECT FROM queue_entry WHERE model_id = $2::text AND priority < $12::smallint)
), written AS (
  INSERT INTO request (id, model_id, api_key_id, priority, virtual_start, expires_at, base_url, input, timeout_ms, not_before, tags, webhook_url, start_webhook_url, run_webhook_events, retry_of, adapter, has_own_expiry, traceparent, tracestate, seq, created_at, started_at, state, attempt)
  SELECT $1::uuid, $2::text, $3::uuid, $4::smallint, $5::bigint, now() + $6::float8 * interval '1 millisecond', $7::text, $8::json, ($9::json ->> 'timeoutMs')::integer, ($9::json ->> 'notBefore')::timestamptz, ($9::json ->> 'tags')::text[], $9::json ->> 'webhookUrl', $9::json ->> 'startWebhookUrl', ($9::json ->> 'runWebhookEvents')::text[], ($9::json ->> 'retryOf')::uuid, $9::json ->> 'adapter', ($9::json ->> 'hasOwnExpiry')::boolean, $9::json ->> 'traceparent', $9::json ->> 'tracestate', nextval('request_seq'), at, at, 'IN_PROGRESS', 1
  FROM chance
  RETURNING seq
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at)
  SELECT $1::uuid, $17::uuid, $2::text, $10::uuid, 1, at, at + $11::float8 * interval '1 millisecond'
  FROM chance
)
SELECT seq FROM written;

-- lock_address
SELECT pg_advisory_xact_lock(hashtextextended($1::text, 22));

-- claim_suspect
WITH due AS MATERIALIZED (
  SELECT ctid FROM delayed_entry
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= ($5::smallint, $6::bigint, $7::bigint)
    AND (expires_at IS NULL OR expires_at > now())
    AND EXISTS (SELECT FROM node WHERE node.id = $3::uuid AND node.draining_since IS NULL)
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = $1::text AND (paused IS NOT NULL OR slot_round <> $10::integer)
    )
    AND NOT is_scheduled AND delayed_entry.ready_at <= clock_timestamp() + interval '10 seconds'
    AND request_id IN (SELECT request_id FROM suspect WHERE address = $11::text)
    AND NOT EXISTS (SELECT FROM suspect JOIN lease USING (request_id) WHERE suspect.address = $11::text)
    AND NOT EXISTS (
    SELECT FROM lease
    WHERE lease.model_id = ANY ($12::text[]) AND lease.node_id <> $3::uuid
      AND NOT EXISTS (
        SELECT FROM quarantine WHERE quarantine.address = $11::text AND quarantine.node_id = lease.node_id
      )
  )
    AND now() < to_timestamp($8::float8 / 1000)
  ORDER BY priority, virtual_start, seq LIMIT $2::integer FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM delayed_entry
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE recent_request AS request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING request.id, request.priority, request.virtual_start, request.seq, request.attempt,
            request.failed_attempts, request.lost_attempts, request.timeout_ms, request.input, request.started_at,
            request.traceparent, request.tracestate,
            greatest(request.created_at, request.not_before) AS waits_since, taken.bounded_key_id
), leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at, bounded_key_id)
  SELECT id, $9::uuid, $1::text, $3::uuid, attempt, started_at,
         started_at + coalesce(timeout_ms, $4::float8) * interval '1 millisecond', bounded_key_id
  FROM started
)
SELECT id, priority, virtual_start AS start, seq, attempt, failed_attempts AS "failedAttempts",
       lost_attempts AS "lostAttempts", bounded_key_id AS "boundedKeyId", timeout_ms AS "timeoutMs", traceparent,
       tracestate, input::text AS input, extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM started;

-- The rights of the roles of roles.sql in the tables. Run this file after each migration, as nowserving_owner, before the
-- new version serves. It may be run again. A table that is locked for too long makes it fail, and then nothing is changed.

BEGIN;
SET LOCAL lock_timeout = '5s';

DO $$
DECLARE
  relation record;
  routine regprocedure;
BEGIN
  -- Only the owner of a table attaches, detaches and drops its days. The service also replaces the two views of recent
  -- days. A sequence that belongs to a column follows its table. A superuser also takes over the days of other roles.
  FOR relation IN
    SELECT class.oid::regclass AS name, wanted
    FROM pg_class AS class
    CROSS JOIN LATERAL (
      SELECT CASE WHEN relname ~ '^(request|attempt|request_event|output_delta)(_[0-9]+)?$'
                    OR relname IN ('recent_request', 'recent_attempt')
                  THEN 'nowserving' ELSE 'nowserving_owner' END
    ) AS owner (wanted)
    WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'p', 'v', 'S')
      AND (pg_get_userbyid(relowner) IN ('nowserving', 'nowserving_owner')
        OR wanted = 'nowserving' AND pg_has_role(relowner, 'USAGE'))
      AND pg_get_userbyid(relowner) <> wanted
      AND NOT EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype IN ('a', 'i')
          AND class.relkind = 'S'
      )
  LOOP
    EXECUTE format('ALTER TABLE %s OWNER TO %I', relation.name, relation.wanted);
  END LOOP;
  FOR routine IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND pg_get_userbyid(proowner) = 'nowserving'
  LOOP
    EXECUTE format('ALTER ROUTINE %s OWNER TO nowserving_owner', routine);
  END LOOP;

  -- The list of migrations changes with the tables only.
  FOR relation IN
    SELECT oid::regclass AS name,
           CASE WHEN relkind = 'S' THEN 'ALL'
                WHEN relkind = 'v' OR relname = 'migrations' THEN 'SELECT'
                ELSE 'SELECT, INSERT, UPDATE, DELETE' END AS rights,
           CASE WHEN relkind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'v', 'S')
      AND pg_get_userbyid(relowner) = 'nowserving_owner'
  LOOP
    EXECUTE format('GRANT %s ON %s %s TO nowserving', relation.rights, relation.kind, relation.name);
  END LOOP;
END
$$;

GRANT SELECT ON
  batches, circuit, group_slots, key_shares, key_use, model, model_activity, model_availability, model_stats, node,
  node_name, queue_depth, rate_limit_usage, request_history, running_now, slot_grant
TO nowserving_reader;
-- An earlier version of this file granted all columns of these two.
REVOKE SELECT ON audit_entry, request_timeline FROM nowserving_reader;
-- No payloads, logs, URLs and tokens.
GRANT SELECT (id, at, action, target, actor_key_id, actor_name, session_id, address, user_agent, http_request_id, reason)
  ON audit_entry TO nowserving_reader;
GRANT SELECT (request_id, at, kind, attempt, level, source, paused_until, step, event_id)
  ON request_timeline TO nowserving_reader;
GRANT SELECT (id, model_id, api_key_id, state, outcome, created_at, started_at, completed_at, erased_at)
  ON request TO nowserving_reader;
GRANT SELECT (request_id, attempt, node_id, worker_id, started_at, ended_at, outcome, error_code, error_message)
  ON attempt TO nowserving_reader;
GRANT SELECT (request_id, model_id, attempt, node_id, worker_id, started_at, deadline_at, cancel_requested_at)
  ON lease TO nowserving_reader;

COMMIT;

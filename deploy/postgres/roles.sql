-- The roles of the service. Run this file once in its database, as a superuser or as a role with CREATEROLE that owns the
-- database, and give each role a password. It may be run again.
--
--   nowserving_owner    migrates: owns the tables, except those that have a table for each day
--   nowserving          runs the service: reads and writes rows, makes and drops the tables of days
--   nowserving_reader   is for auditors and dashboards: reads the views, no keys, secrets, payloads and logs
--
-- grants.sql gives their rights in the tables. The names of the roles and the schema may be replaced in both files.

DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['nowserving_owner', 'nowserving', 'nowserving_reader'] LOOP
    IF to_regrole(role) IS NULL THEN
      EXECUTE format('CREATE ROLE %I LOGIN', role);
    END IF;
  END LOOP;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO nowserving_owner, nowserving, nowserving_reader', current_database());
END
$$;

-- A migration also changes the tables of days, which belong to nowserving.
GRANT nowserving TO nowserving_owner;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO nowserving_owner, nowserving;
GRANT USAGE ON SCHEMA public TO nowserving_reader;

ALTER ROLE nowserving_reader SET default_transaction_read_only = on;
ALTER ROLE nowserving_reader SET statement_timeout = '30s';
-- An open transaction keeps dead rows in the tables of the queue.
ALTER ROLE nowserving_reader SET idle_in_transaction_session_timeout = '1min';

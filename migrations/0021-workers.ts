import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Workers, which claim runs over HTTP: who they are, and leases that belong to them and to no node. */
export class Workers1790000000031 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ${scopesAre(`'submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin'`)};

      -- What says under a key that it is this worker. Its uid follows from both, so that no lease waits for the row, which
      -- is written behind: what is lost of it a worker says again within seconds.
      CREATE TABLE worker (
        uid uuid PRIMARY KEY,
        api_key_id uuid NOT NULL,
        id text NOT NULL,
        name text NOT NULL,
        version text NOT NULL DEFAULT '',
        labels jsonb NOT NULL DEFAULT '{}',
        models text[] NOT NULL DEFAULT '{}',
        state text NOT NULL DEFAULT '',
        told text NOT NULL DEFAULT 'run',
        seen_at timestamptz NOT NULL DEFAULT now(),
        failures_in_row integer NOT NULL DEFAULT 0,
        claims_from timestamptz,
        CONSTRAINT worker_id_is_unique_for_its_key UNIQUE (api_key_id, id),
        CONSTRAINT worker_told_is_known CHECK (told IN ('run', 'drain', 'stop')),
        CONSTRAINT worker_failures_are_not_negative CHECK (failures_in_row >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

      -- A worker's lease expires by itself; its renewals change no index. Only these leases are in the indexes.
      -- squawk-ignore ban-drop-not-null
      ALTER TABLE lease ALTER COLUMN node_id DROP NOT NULL;
      ALTER TABLE lease
        ADD COLUMN worker_id uuid,
        ADD COLUMN claim_id text,
        ADD COLUMN claim_hash bytea,
        ADD COLUMN handed integer,
        ADD COLUMN expires_at timestamptz,
        ADD CONSTRAINT lease_is_of_a_node_or_a_worker CHECK ((node_id IS NULL) <> (worker_id IS NULL)),
        ADD CONSTRAINT lease_of_a_worker_expires CHECK ((worker_id IS NULL) = (expires_at IS NULL));
      CREATE INDEX lease_of_workers ON lease (model_id) WHERE worker_id IS NOT NULL;
      CREATE INDEX lease_by_claim ON lease (claim_id) WHERE claim_id IS NOT NULL;

      -- token_hash: of a worker's lease, so that what it says of its end again is known.
      -- squawk-ignore ban-drop-not-null
      ALTER TABLE attempt ALTER COLUMN node_id DROP NOT NULL;
      ALTER TABLE attempt ADD COLUMN worker_id uuid, ADD COLUMN token_hash bytea;

      -- Of models that workers run it may be NULL: no bound.
      -- squawk-ignore ban-drop-not-null
      ALTER TABLE model ALTER COLUMN concurrency DROP NOT NULL;

      ${runningNow(`coalesce(node.name, worker.name, 'lost')`, `LEFT JOIN worker ON worker.uid = lease.worker_id`)}`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ${runningNow(`coalesce(node.name, 'lost')`)};
      UPDATE model SET concurrency = 1 WHERE concurrency IS NULL;
      ALTER TABLE model ALTER COLUMN concurrency SET NOT NULL;
      UPDATE attempt SET node_id = worker_id WHERE node_id IS NULL;
      ALTER TABLE attempt DROP COLUMN token_hash, DROP COLUMN worker_id, ALTER COLUMN node_id SET NOT NULL;
      -- Of no node that is there: the rescuer takes them.
      ALTER TABLE lease DROP CONSTRAINT lease_of_a_worker_expires, DROP CONSTRAINT lease_is_of_a_node_or_a_worker;
      UPDATE lease SET node_id = worker_id WHERE node_id IS NULL;
      ALTER TABLE lease
        DROP COLUMN expires_at,
        DROP COLUMN handed,
        DROP COLUMN claim_hash,
        DROP COLUMN claim_id,
        DROP COLUMN worker_id,
        ALTER COLUMN node_id SET NOT NULL;
      DROP TABLE worker;
      UPDATE api_key SET scopes = array_remove(scopes, 'work');
      ${scopesAre(`'submit', 'read', 'cancel', 'observe', 'payloads', 'admin'`)}`);
}

const scopesAre = (scopes: string): string => `
      ALTER TABLE api_key DROP CONSTRAINT api_key_scopes_are_known;
      ALTER TABLE api_key ADD CONSTRAINT api_key_scopes_are_known CHECK (scopes <@ ARRAY[${scopes}])`;

const runningNow = (node: string, join = ''): string => `
      CREATE OR REPLACE VIEW running_now AS
      SELECT lease.request_id, lease.model_id, lease.attempt, ${node} AS node,
             lease.started_at, clock_timestamp() - lease.started_at AS running_for,
             lease.deadline_at, lease.cancel_requested_at
      FROM lease
      LEFT JOIN node ON node.id = lease.node_id
      ${join}`;

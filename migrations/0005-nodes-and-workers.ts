import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Nodes, with the models that they may run and those that they cannot reach; and workers, which claim runs over HTTP.
 */
export class NodesAndWorkers1790000000105 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- One process of the service, and when it was last heard of. One that drains starts nothing more.
      CREATE TABLE node (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        role text NOT NULL,
        version text,
        started_at timestamptz NOT NULL DEFAULT now(),
        heartbeat_at timestamptz NOT NULL DEFAULT now(),
        draining_since timestamptz,
        CONSTRAINT node_role_is_known CHECK (role IN ('all', 'api', 'scheduler'))
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);

      -- The names of nodes, for attempts whose node is gone.
      CREATE TABLE node_name (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        since timestamptz NOT NULL DEFAULT now(),
        -- Of a node that was given up, what it was; null: it was not.
        lost_at timestamptz,
        lost_node jsonb,
        CONSTRAINT node_name_of_a_lost_node_says_what_it_was CHECK ((lost_at IS NULL) = (lost_node IS NULL))
      );
      CREATE INDEX node_name_lost ON node_name (lost_at) WHERE lost_at IS NOT NULL;
      CREATE FUNCTION keep_node_name() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO node_name (id, name) VALUES (NEW.id, NEW.name) ON CONFLICT (id) DO NOTHING;
          RETURN NULL;
        END $$;
      CREATE TRIGGER node_is_named AFTER INSERT ON node FOR EACH ROW EXECUTE FUNCTION keep_node_name();

      -- How many runs of a model at once one node may have, of those that all nodes may have together.
      CREATE TABLE slot_grant (
        model_id text NOT NULL,
        node_id uuid NOT NULL,
        slots integer NOT NULL,
        PRIMARY KEY (model_id, node_id),
        CONSTRAINT slot_grant_slots_is_not_negative CHECK (slots >= 0)
      );

      -- An open circuit: an address of a model that a node sends nothing but probes.
      CREATE TABLE circuit (
        model_id text NOT NULL,
        node_id uuid NOT NULL,
        address text NOT NULL,
        reason text NOT NULL,
        since timestamptz NOT NULL,
        -- Since when a node or another has found the model away, without a break.
        outage_since timestamptz NOT NULL,
        is_away boolean NOT NULL DEFAULT true,
        yields_slots boolean NOT NULL DEFAULT true,
        is_probing boolean NOT NULL DEFAULT false,
        PRIMARY KEY (model_id, node_id, address),
        CONSTRAINT circuit_is_of_a_node FOREIGN KEY (node_id) REFERENCES node (id) ON DELETE CASCADE,
        CONSTRAINT circuit_yields_slots_of_a_model_that_is_away CHECK (is_away OR NOT yields_slots)
      );

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
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE worker, circuit, slot_grant, node_name, node;
      DROP FUNCTION keep_node_name()`);
}

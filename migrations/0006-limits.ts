import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rate limits. Each node counts in memory against its shares of a caller's limit, which these tables grant. */
export class Limits1790000000106 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- One run of a node's share book; a holder whose row is gone may not use its shares.
      CREATE TABLE limit_holder (
        id uuid PRIMARY KEY,
        beat bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);

      -- What a holder may admit of a caller's limit, and what it did: shares[i] and used[i] are of the policy's window i.
      -- No index by the holder: a plan made while the table was empty would take it for every row of a write.
      -- A row in use changes every few seconds, with hundreds of others at once: a page has room for a change of each.
      CREATE TABLE limit_share (
        subject text COLLATE "C" NOT NULL,
        route_class text COLLATE "C" NOT NULL,
        policy text COLLATE "C" NOT NULL,
        holder_id uuid NOT NULL,
        shares integer[] NOT NULL,
        used integer[] NOT NULL,
        PRIMARY KEY (subject, route_class, policy, holder_id),
        CONSTRAINT limit_share_every_share_has_its_use CHECK (cardinality(shares) = cardinality(used))
      ) WITH (fillfactor = 50,
              autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 100,
              autovacuum_analyze_scale_factor = 0.5, autovacuum_analyze_threshold = 10000);

      -- Shares that other holders are asked to give back.
      CREATE TABLE limit_ask (
        holder_id uuid NOT NULL,
        subject text COLLATE "C" NOT NULL,
        route_class text COLLATE "C" NOT NULL,
        policy text COLLATE "C" NOT NULL,
        PRIMARY KEY (holder_id, subject, route_class, policy)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500)`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE limit_ask, limit_share, limit_holder`);
}

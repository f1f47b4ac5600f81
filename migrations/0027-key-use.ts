import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who uses how much. */
export class KeyUse1790000000037 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- How many requests a key submitted on a day (UTC). Nodes add to it behind what happens.
      CREATE TABLE key_use (
        api_key_id uuid NOT NULL,
        day date NOT NULL,
        submitted bigint NOT NULL,
        PRIMARY KEY (api_key_id, day),
        CONSTRAINT key_use_is_not_negative CHECK (submitted >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);

  down = (db: QueryRunner): Promise<unknown> => db.query('DROP TABLE key_use');
}

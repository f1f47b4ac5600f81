import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys take turns: a request's place is its virtual start, decided when it is submitted. */
export class FairOrder1790000000020 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE request ADD COLUMN virtual_start bigint NOT NULL DEFAULT 0;
      ALTER TABLE queue_entry ADD COLUMN virtual_start bigint NOT NULL DEFAULT 0;
      CREATE UNIQUE INDEX queue_entry_by_place ON queue_entry (model_id, priority, virtual_start, seq);
      ALTER TABLE queue_entry
        DROP CONSTRAINT queue_entry_pkey,
        ADD CONSTRAINT queue_entry_pkey PRIMARY KEY USING INDEX queue_entry_by_place;
      ALTER TABLE delayed_entry ADD COLUMN virtual_start bigint NOT NULL DEFAULT 0;
      CREATE UNIQUE INDEX delayed_entry_by_place ON delayed_entry (model_id, priority, virtual_start, seq);
      ALTER TABLE delayed_entry
        DROP CONSTRAINT delayed_entry_pkey,
        ADD CONSTRAINT delayed_entry_pkey PRIMARY KEY USING INDEX delayed_entry_by_place;

      ALTER TABLE api_key
        ADD COLUMN weight double precision NOT NULL DEFAULT 1,
        ADD CONSTRAINT api_key_weight_is_sane CHECK (weight BETWEEN 0.01 AND 1000);
      ALTER TABLE model
        ADD COLUMN queue_order text NOT NULL DEFAULT 'fair',
        ADD CONSTRAINT model_queue_order_is_known CHECK (queue_order IN ('fair', 'arrival'))`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE model DROP COLUMN queue_order;
      ALTER TABLE api_key DROP COLUMN weight;
      ALTER TABLE delayed_entry
        DROP CONSTRAINT delayed_entry_pkey, DROP COLUMN virtual_start, ADD PRIMARY KEY (model_id, priority, seq);
      ALTER TABLE queue_entry
        DROP CONSTRAINT queue_entry_pkey, DROP COLUMN virtual_start, ADD PRIMARY KEY (model_id, priority, seq);
      ALTER TABLE request DROP COLUMN virtual_start`);
}

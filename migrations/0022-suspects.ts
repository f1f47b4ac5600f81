import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Requests whose runs broke together with others, and the nodes that send nothing else to an address. */
export class Suspects1790000000122 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE TABLE suspect (
        request_id uuid PRIMARY KEY,
        model_id text NOT NULL,
        -- Without user, password and query, which may be secrets.
        address text NOT NULL,
        since timestamptz NOT NULL DEFAULT clock_timestamp()
      );

      CREATE TABLE quarantine (
        address text NOT NULL,
        node_id uuid NOT NULL,
        PRIMARY KEY (address, node_id),
        CONSTRAINT quarantine_is_of_a_node FOREIGN KEY (node_id) REFERENCES node (id) ON DELETE CASCADE
      )`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE quarantine; DROP TABLE suspect`);
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who signs in by OpenID Connect has a key of its own, and what was audited is found by who did what. */
export class SignIn1790000000028 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- Issuer and subject of a person; null: a key that somebody holds.
      ALTER TABLE api_key ADD COLUMN subject text;
      ALTER TABLE api_key ADD CONSTRAINT api_key_subject_is_unique UNIQUE (subject);
      CREATE INDEX audit_entry_by_actor ON audit_entry (actor_key_id, id);
      CREATE INDEX audit_entry_by_action ON audit_entry (action, id)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP INDEX audit_entry_by_action, audit_entry_by_actor;
      DELETE FROM api_key WHERE subject IS NOT NULL;
      ALTER TABLE api_key DROP COLUMN subject`);
}

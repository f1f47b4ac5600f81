import type { Postgres } from './postgres.js';

/**
 * The volume of the database as its tables see it. When it is full, every row that needs room is refused with SQLSTATE
 * 53100. Statements that only change or remove rows still succeed.
 */
export class Disk {
  constructor(private readonly postgres: Postgres) {}

  /**
   * Runs before any load, because a trigger waits for the lock of its table. Each is committed by itself, so that no
   * statement of a node can deadlock with two of them.
   */
  async prepare(): Promise<void> {
    await this.free();
    await this.postgres.query(`
      DO $$
      DECLARE
        relation regclass;
      BEGIN
        FOR relation IN
          SELECT oid FROM pg_class
          WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        LOOP
          EXECUTE format('CREATE TRIGGER chaos_need_room BEFORE INSERT ON %s
                          FOR EACH STATEMENT EXECUTE FUNCTION chaos_need_room()', relation);
          COMMIT;
        END LOOP;
      END
      $$`);
  }

  async fill(): Promise<void> {
    await this.onInsert(
      `RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'`,
    );
  }

  async free(): Promise<void> {
    await this.onInsert('RETURN NULL');
  }

  /** Replaces the body of the function that all triggers call, which takes no lock on any table. */
  private async onInsert(statement: string): Promise<void> {
    await this.postgres.query(
      `CREATE OR REPLACE FUNCTION chaos_need_room() RETURNS trigger LANGUAGE plpgsql
       AS $$ BEGIN ${statement}; END $$`,
    );
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The trace that a request is part of, as W3C Trace Context has it. */
export class Traces1790000000027 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE request
        ADD COLUMN traceparent text,
        ADD COLUMN tracestate text,
        ADD CONSTRAINT request_state_of_a_trace CHECK (tracestate IS NULL OR traceparent IS NOT NULL)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`ALTER TABLE request DROP COLUMN tracestate, DROP COLUMN traceparent`);
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators set beside the models file, and nodes that are to start nothing more. */
export class Control1790000000024 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- Grants of an earlier slot round start nothing: it rises with each change that takes slots away.
      ALTER TABLE model
        ADD COLUMN concurrency_override integer,
        ADD COLUMN concurrency_overridden_at timestamptz,
        ADD COLUMN concurrency_overridden_by text,
        ADD COLUMN paused text,
        ADD COLUMN paused_at timestamptz,
        ADD COLUMN paused_by text,
        ADD COLUMN slot_round integer NOT NULL DEFAULT 0,
        ADD COLUMN removed_at timestamptz,
        ADD CONSTRAINT model_concurrency_override_is_positive CHECK (concurrency_override > 0),
        ADD CONSTRAINT model_paused_is_known CHECK (paused IN ('hold', 'reject'));

      ALTER TABLE node ADD COLUMN draining_since timestamptz;

      ${replaceViews(
        'coalesce(model.concurrency_override, model.concurrency)',
        `,
             model.paused`,
        `
      WHERE model.removed_at IS NULL OR waiting.count > 0 OR delayed.count > 0 OR running.count > 0`,
        `AND node.draining_since IS NULL`,
        `
      WHERE model.removed_at IS NULL`,
      )}`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW queue_depth;
      ${replaceViews('model.concurrency')};
      ALTER TABLE node DROP COLUMN draining_since;
      ALTER TABLE model
        DROP COLUMN concurrency_override,
        DROP COLUMN concurrency_overridden_at,
        DROP COLUMN concurrency_overridden_by,
        DROP COLUMN paused,
        DROP COLUMN paused_at,
        DROP COLUMN paused_by,
        DROP COLUMN slot_round,
        DROP COLUMN removed_at`);
}

const replaceViews = (concurrency: string, more = '', where = '', ofNode = '', ofModel = ''): string => `
      CREATE OR REPLACE VIEW queue_depth AS
      SELECT model.id AS model_id,
             coalesce(waiting.count, 0) AS waiting,
             coalesce(delayed.count, 0) AS delayed,
             coalesce(running.count, 0) AS running,
             ${concurrency} AS concurrency,
             now() - (SELECT uuid_time(request_id) FROM queue_entry
                      WHERE queue_entry.model_id = model.id
                      ORDER BY model_id, priority, virtual_start, seq
                      LIMIT 1) AS front_has_waited,
             coalesce(delayed.held, 0) AS held${more}
      FROM model
      LEFT JOIN (SELECT model_id, count(*) FROM queue_entry GROUP BY model_id) AS waiting ON waiting.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*), count(*) FILTER (WHERE ready_at = 'infinity') AS held
                 FROM delayed_entry GROUP BY model_id) AS delayed ON delayed.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM lease GROUP BY model_id) AS running ON running.model_id = model.id${where};

      CREATE OR REPLACE VIEW model_availability AS
      SELECT model.id AS model_id,
             count(node.id) AS nodes,
             count(circuit.node_id) AS nodes_without,
             count(circuit.node_id) < count(node.id) AS is_available,
             min(circuit.since) AS since,
             string_agg(DISTINCT circuit.address, ', ') AS addresses,
             string_agg(DISTINCT circuit.reason, ' ') AS reasons
      FROM model
      LEFT JOIN node ON node.role <> 'api' ${ofNode}
      LEFT JOIN circuit ON circuit.model_id = model.id AND circuit.node_id = node.id${ofModel}
      GROUP BY model.id`;

import type { Cluster } from '../cluster/cluster.js';
import type { Ledger } from '../load/ledger.js';

interface Comparison {
  rows: number;
  /** Rows that only the view has; `missing`: rows that it lacks. */
  surplus: object[] | null;
  missing: object[] | null;
}

/** The documented views, and the rows that they must have. */
const views = [
  {
    view: 'queue_depth',
    columns: 'model_id, waiting, delayed, running, concurrency, held',
    expected: `SELECT id,
                      (SELECT count(*) FROM queue_entry WHERE model_id = model.id),
                      (SELECT count(*) FROM delayed_entry WHERE model_id = model.id),
                      (SELECT count(*) FROM lease WHERE model_id = model.id),
                      concurrency,
                      (SELECT count(*) FROM delayed_entry WHERE model_id = model.id AND ready_at = 'infinity')
               FROM model`,
  },
  {
    view: 'key_shares WHERE waiting + running > 0',
    columns: 'model_id, api_key_id, waiting, running',
    expected: `SELECT model_id, api_key_id, sum((state = 'IN_QUEUE')::integer), sum((state = 'IN_PROGRESS')::integer)
               FROM request
               WHERE state <> 'COMPLETED'
                 AND NOT EXISTS (SELECT FROM delayed_entry WHERE request_id = request.id AND is_scheduled)
               GROUP BY model_id, api_key_id`,
  },
  {
    view: 'running_now',
    columns: 'request_id, model_id, attempt, node',
    expected: `SELECT request_id, model_id, attempt,
                      coalesce((SELECT name FROM node WHERE node.id = node_id),
                               (SELECT name FROM worker WHERE worker.uid = worker_id), 'lost')
               FROM lease`,
  },
  {
    view: 'model_stats',
    columns: 'model_id, completed, succeeded, failed, cancelled, expired',
    expected: `SELECT model_id, count(*), sum((outcome = 'succeeded')::integer), sum((outcome = 'failed')::integer),
                      sum((outcome = 'cancelled')::integer), sum((outcome = 'expired')::integer)
               FROM request
               WHERE outcome IS NOT NULL AND uuid_time(id) >= now() - interval '1 hour'
               GROUP BY model_id`,
  },
  {
    view: 'request_history',
    columns: 'id, model_id, key_name, state, outcome, attempts, error_code',
    expected: `SELECT id, model_id, (SELECT name FROM api_key WHERE api_key.id = api_key_id), state, outcome, attempt,
                      error ->> 'code'
               FROM request`,
  },
];

/** Compares each view with the tables in one statement, and so in one snapshot, whatever changes meanwhile. */
export async function checkViews({ postgres }: Cluster, ledger: Ledger): Promise<void> {
  for (const { view, columns, expected } of views) {
    const [comparison] = await postgres.query<Comparison>(
      `WITH shown AS MATERIALIZED (SELECT ${columns} FROM ${view}),
            expected AS MATERIALIZED (${expected}),
            surplus AS (TABLE shown EXCEPT ALL TABLE expected),
            missing AS (TABLE expected EXCEPT ALL TABLE shown)
       SELECT (SELECT count(*)::integer FROM shown) AS rows,
              (SELECT json_agg(one) FROM (SELECT * FROM surplus LIMIT 3) AS one) AS surplus,
              (SELECT json_agg(one) FROM (SELECT * FROM missing LIMIT 3) AS one) AS missing`,
    );
    const { rows, surplus, missing } = comparison!;
    ledger.count(`rows of ${view} compared`, rows);
    if (surplus === null && missing === null) continue;
    const detail = `${view} has ${JSON.stringify(surplus)} and lacks ${JSON.stringify(missing)}`;
    ledger.violate('the views show what the tables hold', detail);
  }
}

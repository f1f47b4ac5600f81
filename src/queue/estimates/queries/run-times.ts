import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { minWeight, type StoredHistogram } from '../histogram.js';

export interface StoredRunTimes extends StoredHistogram {
  modelId: string;
}

const columns = 'model_id AS "modelId", weights, sum_ms AS "sumMs", squares';
/** Once twice as many runs have been counted as are to be remembered, all of them count half. */
const kept = 'CASE WHEN known.runs + excluded.runs > 2 * excluded.memory THEN 0.5 ELSE 1 END';

/*
 * Purpose: adds the run times that a node has seen to those of all nodes, and reads the sum.
 * Race: the row lock makes two nodes add one after the other. All take the rows in one order, so that they never
 *   deadlock. A weight that was halved for ever would end as an error, because it leaves the range of its type.
 * Index: run_times_pkey.
 */
const addStatement = statement('add_run_times')`INSERT INTO run_times AS known
  (model_id, memory, runs, weights, sum_ms, squares)
SELECT "modelId", memory, (SELECT sum(weight) FROM unnest(weights) AS weight), weights, "sumMs", squares
FROM jsonb_to_recordset($1::jsonb)
  AS run ("modelId" text, memory integer, weights float8[], "sumMs" float8, squares float8)
ORDER BY "modelId"
ON CONFLICT (model_id) DO UPDATE
SET memory = excluded.memory,
    runs = (known.runs + excluded.runs) * ${kept},
    weights = (
      SELECT array_agg(CASE WHEN weight < ${String(minWeight)} THEN 0 ELSE weight * ${kept} END ORDER BY bucket)
      FROM unnest(known.weights, excluded.weights) WITH ORDINALITY AS both_of (old, new, bucket)
      CROSS JOIN LATERAL (SELECT coalesce(old, 0) + coalesce(new, 0)) AS counted (weight)
    ),
    sum_ms = (known.sum_ms + excluded.sum_ms) * ${kept},
    squares = (known.squares + excluded.squares) * ${kept}
RETURNING ${columns}`;

export function addRunTimes(
  database: Database,
  runs: readonly (StoredRunTimes & { memory: number })[],
): Promise<StoredRunTimes[]> {
  return database.query<StoredRunTimes>(addStatement, [JSON.stringify(runs)]);
}

const readStatement = statement('read_run_times')`SELECT ${columns} FROM run_times`;

export function readRunTimes(database: Database): Promise<StoredRunTimes[]> {
  return database.query<StoredRunTimes>(readStatement);
}

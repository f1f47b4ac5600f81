import { addRunTimes } from '../../src/queue/estimates/queries/run-times.js';
import { QueueTables } from '../support/queue-tables.js';

let tables: QueueTables;
beforeAll(async () => (tables = await QueueTables.create()));
afterAll(() => tables.drop());

test('a weight that was halved a thousand times becomes none, and all run times are written', async () => {
  await tables.rows(
    `INSERT INTO run_times (model_id, memory, runs, weights, sum_ms, squares) VALUES ('test/model', 1, 9, $1, 9, 9)`,
    [[8, Number.MIN_VALUE, 1]],
  );
  const run = { memory: 1, weights: [1], sumMs: 1, squares: 1 };
  const written = await addRunTimes(tables.session(), [
    { modelId: 'test/model', ...run },
    { modelId: 'test/other', ...run },
  ]);
  expect(written).toEqual([
    { modelId: 'test/model', weights: [4.5, 0, 0.5], sumMs: 5, squares: 5 },
    { modelId: 'test/other', weights: [1], sumMs: 1, squares: 1 },
  ]);
});

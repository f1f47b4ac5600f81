import { BatchDriver } from '../../src/batches/duties/batch-driver.js';
import { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { until } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const { service, model } = testQueue({ models: { 'test/wide': { concurrency: 20 } }, limits: '100000/s' });
const batches = new BatchCalls(service);

type Query = Database['query'];
const isOfDriver = ({ name }: Statement): boolean =>
  /batch/.test(name) &&
  !/find_batch|list_batches|next_batch_due|insert_batch|cancel_batch|open_batches/.test(name);

/**
 * Loses the driver once: its nth statement, or commit, fails before it takes effect, or its answer is lost. Returns
 * whether it came that far.
 */
function loseDriverAt(nth: number, isAfter: boolean): { wasLost: () => boolean; restore: () => void } {
  const database = service.app.get(Database);
  const [query, transaction] = [database.query.bind(database), database.transaction.bind(database)];
  let left = nth;
  let wasLost = false;
  const lost = (): DatabaseUnavailable => {
    wasLost = true;
    return new DatabaseUnavailable('away', 'the driver is lost');
  };
  const around = async <T>(work: () => Promise<T>): Promise<T> => {
    const isMine = !wasLost && --left === 0;
    if (isMine && !isAfter) throw lost();
    const result = await work();
    if (isMine) throw lost();
    return result;
  };
  const wrapped =
    (inner: Query): Query =>
    (statement, values) =>
      isOfDriver(statement) ? around(() => inner(statement, values)) : inner(statement, values);
  database.query = wrapped(query);
  database.transaction = async <T>(work: (query: Query) => Promise<T>): Promise<T> => {
    let isMine = false;
    const result = await transaction((inner) => {
      const own = wrapped(inner);
      return work((statement, values) => {
        isMine ||= isOfDriver(statement);
        return own(statement, values);
      });
    });
    // The commit is in effect, and nobody learns of it.
    return isMine ? around(() => Promise.resolve(result)) : result;
  };
  const restore = (): void => {
    delete (database as Partial<Database>).query;
    delete (database as Partial<Database>).transaction;
  };
  return { wasLost: () => wasLost, restore };
}

const expire = `UPDATE batch SET leased_until = clock_timestamp() - interval '1 second', due_at = clock_timestamp()
  WHERE id = $1 AND ended_at IS NULL AND lease_token IS NOT NULL`;

test.each([
  ['completes', false],
  ['completes', true],
  ['is cancelled', false],
  ['is cancelled', true],
])('a batch %s after its driver was lost at any statement (after it: %j)', async (end, isAfter) => {
  const text = inputLines(6, (i) => (i === 3 ? { status: 422 } : { hold: end === 'is cancelled' && i > 3 }));
  for (let nth = 1, wasLost = true; wasLost; nth++) {
    const fault = loseDriverAt(nth, isAfter);
    let isTakenOver = false;
    const takeOver = async (id: string): Promise<void> => {
      if (!fault.wasLost() || isTakenOver) return;
      isTakenOver = true;
      await service.query(expire, [id]);
      // Otherwise a driver looks when the lease would have expired.
      service.app.get(BatchDriver).wake();
    };
    const { batch_id: id } = await batches.send(text, '?model_id=test/wide');
    if (end === 'is cancelled') {
      await until(async () => {
        await takeOver(id);
        const { counts, status } = await batches.read(id);
        return (counts.completed === 3 && counts.failed === 1 && counts.running === 2) || status === 'failed';
      });
      await batches.cancel(id);
    }
    const batch = await until(async () => {
      await takeOver(id);
      const now = await batches.read(id);
      return now.ended_at !== null && now;
    });
    fault.restore();
    wasLost = fault.wasLost();
    const done =
      end === 'completes'
        ? { completed: 5, failed: 1, cancelled: 0 }
        : { completed: 3, failed: 1, cancelled: 2 };
    expect([nth, batch.counts]).toEqual([nth, expect.objectContaining({ total: 6, ...done })]);
    await batches.results(batch);
    const rows = await service.query('SELECT FROM request WHERE $1 = ANY (tags)', [`batch:${id}`]);
    expect([nth, rows.length]).toEqual([nth, 6]);
    // The script has one call per request.
    expect(new Set(model.calls.map((call) => call.id)).size).toBe(model.calls.length);
    expect(nth).toBeLessThan(60);
  }
});

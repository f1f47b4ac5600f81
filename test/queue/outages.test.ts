import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import { readClusterSnapshot } from '../../src/overview/queries/cluster-snapshot.js';
import { type OpenCircuit, writeCircuits } from '../../src/queue/circuits/queries/circuits.js';
import { register } from '../../src/queue/cluster/queries/heartbeat.js';
import { QueueTables } from '../support/queue-tables.js';

const modelId = 'test/away';
const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
const at = (time: string): number => Date.parse(`2026-03-01T${time}:00Z`);
let tables: QueueTables;
let database: Database;

beforeAll(async () => {
  tables = await QueueTables.create();
  database = tables.session();
  await tables.rows(`INSERT INTO model (id, runner, timeout_ms, attempts) VALUES ($1, 'http', 1, 1)`, [
    modelId,
  ]);
});
afterAll(() => tables.drop());

const start = (id: string): Promise<unknown> =>
  register(database, { id, name: id.slice(0, 8), role: 'all', version: '1' });
const stop = (id: string): Promise<unknown> => tables.rows('DELETE FROM node WHERE id = $1', [id]);
const open = (time: string, more: Partial<OpenCircuit> = {}): OpenCircuit => ({
  modelId,
  address: 'http://gpu',
  reason: 'refused',
  sinceMs: at(time),
  isProbing: false,
  isAway: true,
  yieldsSlots: true,
  ...more,
});

async function expectOutageSince(time: string): Promise<void> {
  const { circuits } = await readClusterSnapshot(database, []);
  expect(Math.min(...circuits.map(({ outageSinceMs }) => outageSinceMs))).toBe(at(time));
  const view = await tables.rows('SELECT since FROM model_availability WHERE model_id = $1', [modelId]);
  expect(view).toEqual([{ since: new Date(at(time)) }]);
}

test('a rolling restart of the nodes does not reset the start of an outage', async () => {
  await Promise.all([first, second].map(start));
  await writeCircuits(database, first, [open('10:00')]);
  await writeCircuits(database, second, [open('10:01')]);
  await expectOutageSince('10:00');
  await stop(first);
  await start(third);
  await writeCircuits(database, third, [open('11:00')]);
  await expectOutageSince('10:00');
  await stop(second);
  await start(second);
  await writeCircuits(database, second, [open('11:05')]);
  await expectOutageSince('10:00');
  // Written again, as at the beginning of a probe.
  await writeCircuits(database, second, [open('11:05', { isProbing: true })]);
  await stop(third);
  await expectOutageSince('10:00');
  await writeCircuits(database, second, []);
  await writeCircuits(database, second, [open('12:00')]);
  await expectOutageSince('12:00');
  await stop(second);
});

test('the outage of a model with several addresses starts when the last address is away', async () => {
  await start(first);
  const part = { isAway: false, yieldsSlots: false };
  await writeCircuits(database, first, [open('10:00', part)]);
  await writeCircuits(database, first, [open('10:00'), open('11:00', { address: 'http://spare' })]);
  await expectOutageSince('11:00');
  await stop(first);
});

import { randomUUID } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { registerHook } from '../../src/queue/transition-hooks.js';
import { claimSome, QueueTables, submitSome, submitStartedFor } from './queue-tables.js';
import { claimAs } from './worker-steps.js';

/** Starts a request in each way, and posts what a hook on starts wrote. A thread, so that no other test has the hook. */
registerHook({
  name: 'noted_start',
  on: 'request.started',
  sql: (changed) => `INSERT INTO noted_start SELECT id, api_key_id, webhook_url FROM ${changed}`,
});

const tables = await QueueTables.create();
await tables.rows('CREATE TABLE noted_start (id uuid, api_key_id uuid, webhook_url text)');
const database = tables.session();
const node = await tables.node(database);
const started = await submitStartedFor(database, node);
await submitSome(database, 3);
await tables.rows(`UPDATE request SET webhook_url = 'https://hooks.example/' WHERE state = 'IN_QUEUE'`);
const [claimed] = await claimSome(database, node, 1);
const [ofWorker] = await claimAs(database, randomUUID(), 1);
const noted = await tables.rows<{ id: string }>(
  `SELECT id, noted_start.webhook_url AS url, noted_start.api_key_id = request.api_key_id AS has_key,
          noted_start.xmin::text = request.xmin::text AS same_commit
   FROM noted_start JOIN request USING (id)`,
);
await tables.drop();
const names = new Map([
  [started!.id, 'submit_started'],
  [claimed!.id, 'claim'],
  [ofWorker!.id, 'claim_for_workers'],
]);
parentPort!.postMessage(
  noted.map(({ id, ...row }) => ({ by: names.get(id), ...row })),
  [],
);

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve } from '../../clients/typescript/src/worker/index.js';
import { Database } from '../../src/database/database.js';
import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import { findLeases } from '../../src/queue/workers/queries/worker-leases.js';
import { WorkerEnds } from '../../src/queue/workers/worker-ends.js';
import { WorkerStore } from '../../src/queue/workers/worker-store.js';
import { readLeaseToken } from '../../src/workers/lease-token.js';
import { until } from '../support/index.js';
import { onNextCall } from '../support/on-next-call.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({ models: { 'test/pulled': pulled } });

test('a run whose claim a leaving worker did not read returns to the queue, and is not lost', async () => {
  let claimed = 0;
  /** Reads the answers of claims, and does not pass them on. */
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '', headers } = request;
    const { authorization = '', prefer = '' } = headers as Record<string, string>;
    const body = await text(request);
    const init = { method, headers: { authorization, prefer }, body: body === '' ? null : body };
    const answer = await fetch(new URL(url, service.url), init);
    const said = await answer.text();
    if (url.endsWith('/claims')) claimed += 1;
    else response.writeHead(answer.status).end(said);
  };
  const between = createServer((request, response) => void pass(request, response));
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  try {
    const drain = new AbortController();
    const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const options = { url, key: service.key, signal: drain.signal, say: () => undefined };
    const over = serve('test/pulled', () => 'done', options);
    const id = await calls.submit('test/pulled');
    await until(() => claimed === 1);
    drain.abort();
    await over;
    const other = new WorkerCalls(service);
    const run = await other.run();
    expect(run).toMatchObject({ request_id: id, attempt: 1 });
    await other.output(run);
  } finally {
    between.closeAllConnections();
    between.close();
  }
});

test.each([1, 2])(
  'a run that cannot be given back at first, after %i answers to its claim, returns to the queue and is not lost',
  async (answers) => {
    const { app, query } = service;
    const id = await calls.submit('test/pulled');
    const [worker, claimId] = [new WorkerCalls(service), randomUUID()];
    for (let answer = 1; answer < answers; answer++) await worker.run({ claimId });
    const { lease_token } = await worker.run({ claimId });
    const [key] = await query<{ id: string }>('SELECT id FROM api_key');
    const runs = await findLeases(app.get(Database), [readLeaseToken(key!.id, lease_token)!]);
    const away = new DatabaseUnavailable('away', undefined);
    onNextCall(app.get(WorkerStore), 'requeue', () => () => Promise.reject(away));
    await app.get(WorkerEnds).giveBack(runs);
    await app.get(Rescuer).runOnce();
    expect(await query('SELECT state, lost_attempts FROM request WHERE id = $1', [id])).toEqual([
      { state: 'IN_QUEUE', lost_attempts: 0 },
    ]);
    const other = new WorkerCalls(service);
    const run = await other.run();
    expect(run).toMatchObject({ request_id: id, attempt: 1 });
    await other.output(run);
  },
);

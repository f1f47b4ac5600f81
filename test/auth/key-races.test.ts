import { KeysService } from '../../src/auth/keys.service.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { readStream } from '../support/stream-reader.js';

let service: TestService;
beforeAll(async () => (service = await startTestService({ limits: 'off' })));
afterAll(() => service.stop());

interface Call {
  begunAfterRevocation: boolean;
  status: number;
}

test('a key revoked in mid-flight: every call begun afterwards is refused, and what was refused left nothing', async () => {
  const keys = service.app.get(KeysService);
  const secret = (await keys.create({ name: 'short-lived' })).reveal();
  const key = (await keys.list()).find(({ name }) => name === 'short-lived')!;
  const authorization = `Key ${secret}`;
  const accepted: string[] = [];
  const calls: Call[] = [];
  let revoked = false;
  let refusals = 0;

  const caller = async (): Promise<void> => {
    // Each goes on until it has been refused a few times after the revocation.
    for (let refusedAfterwards = 0; refusedAfterwards < 3;) {
      const begunAfterRevocation = revoked;
      const response = await service.submit('demo/text/echo', { n: calls.length }, { authorization });
      const body = (await response.json()) as { request_id: string; code: string };
      calls.push({ begunAfterRevocation, status: response.status });
      if (response.status === 202) accepted.push(body.request_id);
      else {
        refusals++;
        expect([response.status, body.code]).toEqual([401, 'invalid_key']);
      }
      if (begunAfterRevocation) refusedAfterwards++;
    }
  };
  const calling = Promise.all(Array.from({ length: 20 }, caller));
  await until(() => accepted.length >= 50);
  expect(await keys.revoke(key.id)).toBe(true);
  revoked = true;
  await calling;

  expect(calls.filter((call) => call.begunAfterRevocation && call.status !== 401)).toEqual([]);
  const rows = await service.query<{ id: string }>('SELECT id FROM request WHERE api_key_id = $1', [key.id]);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
  expect(refusals).toBeGreaterThanOrEqual(60);
  // What was accepted is worked off: a revoked key takes nothing back.
  await until(async () => {
    const [left] = await service.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM request WHERE api_key_id = $1 AND outcome IS DISTINCT FROM 'succeeded'`,
      [key.id],
    );
    return left!.n === 0;
  });
});

test('a stream opened with a key that is revoked meanwhile goes on to its end', async () => {
  const keys = service.app.get(KeysService);
  const secret = (await keys.create({ name: 'watcher' })).reveal();
  const authorization = `Key ${secret}`;
  const submitted = await service.submit(
    'demo/text/flaky',
    { fail_attempts: 0, delay_ms: 800 },
    { authorization },
  );
  const { status_url: url } = (await submitted.json()) as { status_url: string };
  const stream = await readStream(`${url}/stream`, { authorization });
  await until(() => stream.statuses().includes('IN_PROGRESS'));
  const key = (await keys.list()).find(({ name }) => name === 'watcher')!;
  await keys.revoke(key.id);
  expect((await service.get(url, { headers: { authorization } })).status).toBe(401);
  await stream.ended;
  expect(stream.statuses().at(-1)).toBe('COMPLETED');
});

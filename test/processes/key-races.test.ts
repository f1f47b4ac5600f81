import { KeysService } from '../../src/auth/keys.service.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { readStream } from '../support/stream-reader.js';

let service: TestService;
beforeAll(async () => (service = await startTestService({ limits: 'off' })));
afterAll(() => service.stop());

interface Call {
  begunAfterRefusal: boolean;
  status: number;
}

test('after the first refusal of a revoked key, all its calls are refused without effect, and its streams end', async () => {
  const keys = service.app.get(KeysService);
  const secret = (await keys.create({ name: 'short-lived' })).reveal();
  const key = (await keys.list()).find(({ name }) => name === 'short-lived')!;
  const authorization = `Key ${secret}`;
  const slow = { fail_attempts: 0, delay_ms: 7_000 };
  const submitted = await service.submit('demo/text/flaky', slow, { authorization });
  const held = (await submitted.json()) as { request_id: string; status_url: string };
  const stream = await readStream(`${held.status_url}/stream`, { authorization });
  await until(() => stream.statuses().includes('IN_PROGRESS'));
  const accepted: string[] = [held.request_id];
  const calls: Call[] = [];
  let refusals = 0;

  const caller = async (): Promise<void> => {
    // Each caller goes on until it has been refused a few times.
    for (let refused = 0; refused < 3;) {
      const begunAfterRefusal = refusals > 0;
      const response = await service.submit('demo/text/echo', { n: calls.length }, { authorization });
      const body = (await response.json()) as { request_id: string; code: string };
      calls.push({ begunAfterRefusal, status: response.status });
      if (response.status === 202) accepted.push(body.request_id);
      else {
        refused++;
        refusals++;
        expect([response.status, body.code]).toEqual([401, 'invalid_key']);
      }
    }
  };
  const calling = Promise.all(Array.from({ length: 5 }, caller));
  await until(() => accepted.length >= 50);
  expect(await keys.revoke(key.id)).toBe(true);
  await calling;

  expect(calls.filter((call) => call.begunAfterRefusal && call.status !== 401)).toEqual([]);
  const rows = await service.query<{ id: string }>('SELECT id FROM request WHERE api_key_id = $1', [key.id]);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());
  await stream.ended;
  expect(stream.statuses().at(-1)).toBe('IN_PROGRESS');
  // Accepted requests complete, because the revocation of a key takes nothing back.
  await until(async () => {
    const [left] = await service.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM request WHERE api_key_id = $1 AND outcome IS DISTINCT FROM 'succeeded'`,
      [key.id],
    );
    return left!.n === 0;
  });
});

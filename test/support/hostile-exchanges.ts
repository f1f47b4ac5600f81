import fc from 'fast-check';
import { expectNoInternals, type RawAnswer, send, words } from './hostile-client.js';
import type { TestService } from './index.js';
import { inParallel } from './in-parallel.js';
import { unknownId } from './queue-calls.js';

export interface Exchange {
  method: string;
  target: string;
  fields: string[];
  body: string;
}

/** Sends the exchange unchanged, with the service's key unless it has its own. */
export function exchange(
  service: TestService,
  { method, target, fields, body }: Exchange,
): Promise<RawAnswer> {
  const bytes = Buffer.from(body);
  const key = `Authorization: Key ${service.key}`;
  const all = ['Host: a', 'Connection: close', `Content-Length: ${bytes.length}`, ...fields];
  if (!fields.some((field) => field.startsWith('Authorization'))) all.push(key);
  return send(service, `${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`, bytes);
}

const ids = words`x %00 %2e%2e null __proto__ ' * {} %F0%9F%98%80 %ff 00000000-0000-0000-0000-000000000000`;
const models = words`demo/text/echo demo%2Ftext%2Fecho demo/text/ech demo requests ../x a%00b __proto__ %zz * -`;

const routes = words`
  GET:/v1/models GET:/v1/models/{m} GET:/v1/models/{m}/openapi.json GET:/v1/key
  POST:/v1/queue/{m} GET:/v1/queue/requests POST:/v1/queue/requests POST:/v1/queue/requests/status
  POST:/v1/queue/requests/cancel GET:{r} GET:{r}/status GET:{r}/status/stream PUT:{r}/cancel POST:{r}/retry DELETE:{r}
  GET:{r}/deliveries POST:{r}/deliveries/{i}/redeliver POST:/fal/{m} GET:/fal/{m}/requests/{i}
  GET:/fal/{m}/requests/{i}/status GET:/fal/{m}/requests/{i}/status/stream GET:/fal/{m}/requests/{i}/response
  PUT:/fal/{m}/requests/{i}/cancel GET:/fal GET:/fal/{m}/x`.map(
  (route) => route.split(':') as [string, string],
);

const names = words`
  webhook priority not_before delay expires timeout tag logs fal_webhook fal_max_queue_length fal_x wait limit cursor
  status outcome model_id created_after created_before __proto__ Priority %00`;
const values = [
  ...words`
    1 0 -1 1e9 NaN true null high urgent 1h 0ms 31d 999999999999999999999h a:b a: %00 %ff %27 %zz {} []
    2030-01-31T08:00:00Z 2030-13-01T00:00:00Z 9999-12-31T23:59:59%2B23:59 -1 IN_QUEUE done demo/text/echo
    http://127.0.0.1:1/ https://169.254.169.254/ ftp://a.example/ https://[::1]/ javascript:alert(1) https://%00/
    https://user:secret@127.0.0.1/`,
  '',
  'a'.repeat(3_000),
];

/** Each waits at most one second, because some of them wait in vain. */
const preferences = words`
  wait=1 wait=0 wait=-1 wait wait= wait="1" wait="0 wait=x wait=0x1 wait=1;a wait;wait=1 respond-async,wait=0 ,,, =
  wait=\xff wait="\\" __proto__=1 a="b,wait=1",wait=0`;
const headers = words`X-Fal-Request-Timeout X-Fal-Request-Start-Timeout X-Fal-Queue-Priority X-Fal-Tags Idempotency-Key
  Last-Event-ID Content-Type Content-Encoding X-Request-Id Origin Accept`;
const headerValues = words`0 1 -1 1.5 1e9 low high a=b,c=d , = "x" x "x \xff __proto__ gzip application/json *`;

const odd = fc.oneof(
  fc.constantFrom(
    '',
    'demo/text/echo',
    'a:b',
    '1h',
    'high',
    '\0',
    '\ud800',
    'IN_QUEUE',
    'http://127.0.0.1:1/',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const member = fc.constantFrom(
  'model_id',
  'input',
  'idempotency_key',
  'tag',
  'delay',
  'webhook',
  '__proto__',
);
const json = fc.oneof(
  fc.record({ requests: fc.array(fc.dictionary(member, odd, { maxKeys: 4 }), { maxLength: 4 }) }),
  fc.record({ request_ids: fc.oneof(odd, fc.array(odd, { maxLength: 4 })) }),
  fc.record({ filter: odd }),
  fc.dictionary(fc.string({ maxLength: 5 }), odd, { maxKeys: 3 }),
  odd,
);
const body = fc.oneof(
  { weight: 4, arbitrary: json.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('', '{}', '{', '\0', '{"a":1}x', '['.repeat(500)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

function arbitrary(known: readonly string[]): fc.Arbitrary<Exchange> {
  const id = fc.oneof(fc.constantFrom(...known), fc.constantFrom(...ids, unknownId()));
  const pair = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...values))
    .map(([name, value]) => `${name}=${value}`);
  const field = fc.oneof(
    fc.constantFrom(...preferences).map((value) => `Prefer: ${value}`),
    fc
      .tuple(fc.constantFrom(...headers), fc.constantFrom(...headerValues))
      .map(([name, value]) => `${name}: ${value}`),
    fc.constantFrom('Authorization: Key x', 'Authorization: Basic Og==', 'Authorization: '),
  );
  const often = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
  const otherMethod = fc.constantFrom(...words`GET HEAD POST PUT DELETE PATCH OPTIONS TRACE`);
  return fc
    .record({
      route: fc.constantFrom(...routes),
      method: often('', otherMethod),
      model: often('demo/text/echo', fc.constantFrom(...models)),
      ids: fc.tuple(id, id),
      query: fc.array(pair, { maxLength: 3 }),
      fields: fc.array(field, { maxLength: 2 }),
      body,
    })
    .map(({ route: [usual, path], method, model, ids: [one, other], query, fields, body: text }) => ({
      method: method === '' ? usual : method,
      target:
        path
          .replace('{r}', `/v1/queue/requests/${one}`)
          .replace('{m}', () => model)
          .replace('{i}', () => other) + (query.length === 0 ? '' : `?${query.join('&')}`),
      fields,
      body: usual === 'GET' ? '' : text,
    }));
}

/** Returns the same exchanges for the same seed, except for the ids of known requests. */
export const exchangesOf = (seed: number, numRuns: number, known: readonly string[]): Exchange[] =>
  fc.sample(arbitrary(known), { seed, numRuns });

/** Expects that no exchange caused an internal error, a missing answer, or a leak of internals. */
export async function expectHarmless(service: TestService, exchanges: readonly Exchange[]): Promise<void> {
  const answers = await inParallel(16, exchanges, (one) =>
    exchange(service, one).catch((error: unknown) => ({
      status: 0,
      fields: '',
      body: String(error),
      isContinued: false,
    })),
  );
  const wrong = answers.flatMap((answer, i) =>
    answer.status >= 200 && answer.status < 500 ? [] : [{ ...exchanges[i], answer }],
  );
  expect(wrong).toEqual([]);
  for (const answer of answers.filter(({ status }) => status >= 400)) expectNoInternals(answer);
}

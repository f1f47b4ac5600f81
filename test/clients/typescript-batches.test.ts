import { type Batch, type BatchLine, createClient, file } from '../../clients/typescript/src/index.js';
import { passing, useFakeTimers } from '../support/passing-time.js';
import { until } from '../support/until.js';

interface Seen {
  method: string;
  url: string;
  headers: Headers;
  body: string;
}

const json = (body: unknown, status = 200): Response => Response.json(body, { status });
const lost = (): never => {
  throw new TypeError('fetch failed');
};
const batch = { batch_id: 'b1', status: 'in_progress', ended_at: null, counts: { total: null } };

/** A client of a service that answers with `reply`, and the calls that it got. */
function clientOf(reply: (seen: Seen, count: number) => Response, options: object = {}) {
  const seen: Seen[] = [];
  const fetch = async (url: string, { method = 'GET', headers, body }: RequestInit = {}) => {
    const text = await new Response(body).text();
    seen.push({
      method,
      url: url.replace('http://service.test', ''),
      headers: new Headers(headers),
      body: text,
    });
    return reply(seen.at(-1)!, seen.length);
  };
  return {
    seen,
    queue: createClient({ url: 'http://service.test', key: 'k', fetch: fetch as never, ...options }),
  };
}

/** A service that stores uploads. The answer to the first one gets lost. */
function storing() {
  const puts: string[] = [];
  const client = clientOf(({ method, url, body }) => {
    if (url.endsWith('/initiate'))
      return json({ file_url: 'http://service.test/f', upload_url: 'http://service.test/up' });
    if (method !== 'PUT') return json(batch, 202);
    puts.push(body);
    return puts.length === 1 ? lost() : json({});
  });
  return { ...client, puts };
}

useFakeTimers();

const lines: BatchLine[] = [1, 2, 3].map((n) => ({ customId: `line ${n}`, input: { n } }));
const sent = [1, 2, 3].map((n) => `{"custom_id":"line ${n}","input":{"n":${n}}}\n`).join('');

it.each<[string, () => Parameters<ReturnType<typeof storing>['queue']['batches']['create']>[0]]>([
  ['an array', () => lines],
  [
    'a generator',
    function* () {
      yield* lines;
    } as never,
  ],
  ['a Blob', () => new Blob([sent])],
])('makes a batch of %s, which is sent whole again when an answer was lost', async (_name, source) => {
  const { queue, seen, puts } = storing();
  const options = { model: 'a/b', tag: 'job:1', completionWindowS: 3_600, idempotencyKey: 'one' };
  expect(await passing(queue.batches.create(source(), options))).toEqual(batch);
  expect(puts).toEqual([sent, sent]);
  const { method, url, headers, body } = seen.at(-1)!;
  expect([method, url, headers.get('idempotency-key')]).toEqual(['POST', '/v1/batches', '"one"']);
  expect(JSON.parse(body)).toEqual({
    input_file: 'http://service.test/f',
    model_id: 'a/b',
    tag: 'job:1',
    completion_window: '3600000ms',
  });
});

it('accepts the URL of an uploaded file, and files in the inputs of lines', async () => {
  const { queue, seen, puts } = storing();
  await passing(queue.batches.create('http://service.test/earlier'));
  expect(seen.map(({ url }) => url)).toEqual(['/v1/batches']);
  expect(JSON.parse(seen[0]!.body)).toEqual({ input_file: 'http://service.test/earlier' });
  await passing(queue.batches.create([{ customId: '1', model: 'a/b', input: { image: new Blob(['cat']) } }]));
  expect(puts.at(-1)).toBe('{"custom_id":"1","model_id":"a/b","input":{"image":"http://service.test/f"}}\n');
});

it('reads lines while it sends them, and passes on the error of their generator', async () => {
  const { queue, puts } = storing();
  const text = 'x'.repeat(2 ** 20);
  async function* many(fails: boolean): AsyncGenerator<BatchLine> {
    for (let n = 0; n < 12; n++) yield { customId: `${n}`, input: { text } };
    if (fails) throw new RangeError('The source broke.');
  }
  await expect(passing(queue.batches.create(many(true)))).rejects.toThrow(
    new RangeError('The source broke.'),
  );
  await passing(queue.batches.create(file(new Blob([sent]).stream() as never))).catch(() => undefined);
  const { queue: other, puts: whole } = storing();
  // A stream can be read once, so its lost answer is an error.
  await expect(passing(other.batches.create(many(false)))).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect(whole[0]!.split('\n')).toHaveLength(13);
  expect(puts.length).toBeLessThan(3);
});

it('ends the generator of its lines if the upload of them does not begin', async () => {
  const { queue } = clientOf(() => json({ code: 'forbidden', detail: 'It is not allowed.' }, 403));
  let isOpen = false;
  function* many(): Generator<BatchLine> {
    isOpen = true;
    try {
      for (;;) yield { customId: '1', input: { text: 'x'.repeat(2 ** 20) } };
    } finally {
      isOpen = false;
    }
  }
  await expect(queue.batches.create(many())).rejects.toMatchObject({ code: 'forbidden' });
  await until(() => !isOpen);
});

it('refuses an option or a member of a line that it does not know', async () => {
  const { queue, seen } = storing();
  const call = queue.batches.create(lines, { tags: ['a:b'] } as object);
  await expect(call).rejects.toThrow('There is no option "tags". The known ones are model, tag, ');
  const wrong = queue.batches.create([{ customId: '1', model_id: 'a/b', input: {} } as BatchLine]);
  await expect(wrong).rejects.toThrow('There is no member of a line "model_id".');
  expect(seen).toEqual([]);
});

it('waits for the end of a batch through a long outage, and reports new counts', async () => {
  const counts = [{ total: null }, { total: 2, completed: 0 }, { total: 2, completed: 2 }];
  const ended = { ...batch, status: 'completed', ended_at: '2026-11-28T02:00:00Z', counts: counts[2] };
  const { queue } = clientOf((_seen, count) => {
    if (count === 1) return json(batch);
    if (count < 4) return json({ ...batch, counts: counts[1] });
    return count < 60 ? lost() : json(ended);
  });
  const told: Batch['counts'][] = [];
  const found = await passing(queue.batches.wait('b1', { onCounts: (one) => told.push(one) }));
  expect(found).toEqual(ended);
  expect(told).toEqual(counts);
});

it('rejects a wait for an unknown batch', async () => {
  const { queue } = clientOf(() => json({ code: 'unknown_batch', detail: 'There is none.' }, 404));
  await expect(queue.batches.wait('b1')).rejects.toMatchObject({ code: 'unknown_batch', status: 404 });
});

/** An answer of lines that ends, or breaks off. */
function ndjson(texts: string[], breaks = false): Response {
  const rest = [...texts];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const next = rest.shift();
      if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
}

async function idsOf(found: AsyncIterable<{ custom_id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { custom_id: id } of found) ids.push(id);
  return ids;
}

const outputLine = (id: string): string => `{"custom_id":"${id}","request_id":"r","output":"ü"}\n`;

it('yields each line of a file once despite broken connections, even if the lines change their order', async () => {
  const [one, two, three] = ['1', '2', '3'].map(outputLine) as [string, string, string];
  const { queue, seen } = clientOf((_seen, count) => {
    if (count === 1) return ndjson([one + two.slice(0, 9)], true);
    if (count < 40) return lost();
    if (count === 40) return ndjson([two, one, three.slice(0, -1)]);
    return ndjson([two + one, three.slice(0, 5), three.slice(5)]);
  });
  expect(await passing(idsOf(queue.batches.output('b1')))).toEqual(['1', '2', '3']);
  expect(new Set(seen.map(({ url }) => url))).toEqual(new Set(['/v1/batches/b1/output']));
  const away = clientOf(lost, { retries: 2 });
  await expect(passing(idsOf(away.queue.batches.errors('b1')))).rejects.toMatchObject({
    code: 'connection_failed',
  });
  expect(away.seen).toHaveLength(3);
});

it('yields each error line without an id once, also after a broken connection', async () => {
  const unread = '{"custom_id":"","request_id":null,"error":{"code":"input_file_not_found"}}\n';
  const { queue } = clientOf((_seen, count) =>
    count === 1
      ? ndjson([outputLine('1'), unread, unread], true)
      : ndjson([unread, unread, unread, outputLine('1')]),
  );
  expect(await passing(idsOf(queue.batches.errors('b1')))).toEqual(['1', '', '', '']);
});

it('makes the calls of the contract', async () => {
  const { queue, seen } = clientOf(({ method }) =>
    method === 'DELETE' ? new Response(null, { status: 204 }) : json({ data: [batch], next_cursor: null }),
  );
  await queue.batches.get('b/1');
  await queue.batches.cancel('b1');
  await queue.batches.delete('b1');
  for await (const one of queue.batches.list({ status: 'completed', tag: 'a:b', limit: 5 }))
    expect(one).toEqual(batch);
  await queue.input('r1');
  await queue.webhookEndpoints.create('https://example.org', { events: ['batch.completed'] });
  for await (const one of queue.webhookEndpoints.list()) expect(one).toEqual(batch);
  await queue.webhookEndpoints.get('e1');
  await queue.webhookEndpoints.update('e1', { disabled: true });
  await queue.webhookEndpoints.delete('e1');
  expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['GET', '/v1/batches/b%2F1', ''],
    ['PUT', '/v1/batches/b1/cancel', ''],
    ['DELETE', '/v1/batches/b1', ''],
    ['GET', '/v1/batches?status=completed&tag=a%3Ab&limit=5', ''],
    ['GET', '/v1/queue/requests/r1/input', ''],
    ['POST', '/v1/webhook-endpoints', '{"url":"https://example.org","events":["batch.completed"]}'],
    ['GET', '/v1/webhook-endpoints', ''],
    ['GET', '/v1/webhook-endpoints/e1', ''],
    ['PATCH', '/v1/webhook-endpoints/e1', '{"disabled":true}'],
    ['DELETE', '/v1/webhook-endpoints/e1', ''],
  ]);
});

import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../clients/typescript/src/index.js';

test('a call may have no time limit', async () => {
  const client = createClient({
    url: 'http://queue',
    timeoutS: Infinity,
    retries: 0,
    fetch: async (_url, init) => {
      await setTimeout(2); // a timer of the client that is too long for timers would have fired
      init!.signal!.throwIfAborted();
      return Response.json({ data: [] });
    },
  });
  expect(await client.models()).toEqual([]);
});

test('the line end of a key is not sent, and a key that cannot be sent is not shown', async () => {
  const keys: unknown[] = [];
  const fetch: typeof globalThis.fetch = (_url, init) => {
    keys.push(new Headers(init!.headers).get('authorization'));
    return Promise.resolve(Response.json({ data: [] }));
  };
  await createClient({ url: 'http://queue', key: 'ns_k\r\n', fetch }).models();
  expect(keys).toEqual(['Key ns_k']);
  const unsendable = { url: 'http://queue', key: 'ns_secret\nns_k', fetch };
  expect(() => createClient(unsendable)).toThrow(new TypeError('The key has characters that no key has.'));
});

const answered = (status: number, body: string, type = 'application/json') =>
  createClient({
    url: 'http://queue',
    retries: 0,
    fetch: () => Promise.resolve(new Response(body, { status, headers: { 'content-type': type } })),
  });

test.each(['null', '"text"', '7', '[]'])(
  'an answer that is not an object is an invalid response: %s',
  async (body) => {
    const client = answered(200, body);
    await expect(client.run('a/b', { input: {} })).rejects.toMatchObject({ code: 'invalid_response' });
    await expect(client.list().next()).rejects.toMatchObject({ code: 'invalid_response' });
    expect(await client.response('r')).toEqual(JSON.parse(body));
  },
);

test('an event that is not JSON is an invalid response', async () => {
  const client = answered(200, 'id: 1\ndata: {"status"\n\n', 'text/event-stream');
  await expect(client.follow('r').next()).rejects.toMatchObject({ code: 'invalid_response' });
  await expect(client.output('r').next()).rejects.toMatchObject({ code: 'invalid_response' });
});

test('an error answer of another service is reported with its text', async () => {
  const body = '{"detail":[{"msg":"missing"}],"code":7}';
  await expect(answered(422, body).status('r')).rejects.toMatchObject({ code: 'http_422', detail: body });
});

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

test('the line end of a key is not sent, and a key that cannot be sent is not told', async () => {
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

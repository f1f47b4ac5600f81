import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, file, NowServingError } from '../../clients/typescript/src/index.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { fileId, sha256, someBytes } from '../support/file-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ limits: '1000/s' });

interface Echo {
  images: string[];
  more: { sound: string; text: string; date: string };
}

/** Returns what the model receives for this input, as the echo answers it. */
async function echoed(input: object): Promise<Echo> {
  const queue = createClient({ url: service.url, key: service.key });
  return (await queue.run<Echo>('demo/text/echo', { input })).output;
}

test('each Blob, File and path in an input is uploaded, and all else stays unchanged', async () => {
  const path = join(await temporaryDirectory(), 'a drum.WAV');
  await writeFile(path, 'boom');
  const cat = new Blob(['meow'], { type: 'image/png' });
  const when = new Date(0);
  const dog = new File(['woof'], 'dog.webp', { type: 'image/webp' });
  const input = { images: [cat, dog, cat], more: { sound: file(path), text: 'cat.png', date: when } };
  const { images, more } = await echoed(input);
  expect(images[0]).toBe(images[2]);
  expect(more).toEqual({ sound: expect.any(String), text: 'cat.png', date: when.toJSON() });
  // The caller's own input is unchanged.
  expect([input.images[0], input.more.date]).toEqual([cat, when]);
  const expected: [string, string, string, string][] = [
    [images[0]!, 'file', 'image/png', 'meow'],
    [images[1]!, 'dog.webp', 'image/webp', 'woof'],
    [more.sound, 'a%20drum.WAV', 'audio/wav', 'boom'],
  ];
  for (const [url, name, type, text] of expected) {
    expect(url.endsWith(`/${name}`)).toBe(true);
    const answer = await fetch(url);
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([type, text]);
  }
  const [row] = await service.query<{ uses: number }>(
    'SELECT count(*)::integer AS uses FROM file_use WHERE file_id = $1',
    [fileId(images[0]!)],
  );
  expect(row).toEqual({ uses: 1 });
});

test('files in several items are uploaded, and a stream can be uploaded by itself', async () => {
  const queue = createClient({ url: service.url, key: service.key });
  const bytes = someBytes(2_000_000);
  const stream = new Blob([bytes]).stream() as unknown as ReadableStream<Uint8Array>;
  const url = await queue.upload(file(stream, { name: 'a.bin' }));
  expect(sha256(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(sha256(bytes));
  const results = await queue.submitMany([
    { model: 'demo/text/echo', input: { image: new Blob(['1']) } },
    { model: 'demo/text/echo', input: { image: 'text' } },
  ]);
  expect(results.map(({ status }) => status)).toEqual([202, 202]);
  const { output } = await queue.result<{ image: string }>(results[0]!.request_id!);
  expect(await (await fetch(output.image)).text()).toBe('1');
});

test('an upload with a lost answer is sent whole again', async () => {
  let lost = 0;
  const through: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method !== 'PUT' || lost++ > 0) return answer;
    throw new TypeError('fetch failed');
  };
  const queue = createClient({ url: service.url, key: service.key, fetch: through });
  const url = await queue.upload(new Blob(['x'.repeat(100_000)]), { name: 'a.txt', type: 'text/plain' });
  expect([lost, (await (await fetch(url)).text()).length]).toEqual([2, 100_000]);
});

test('a missing path and an aborted signal are errors before anything is submitted', async () => {
  const queue = createClient({ url: service.url, key: service.key });
  const before = await service.query('SELECT FROM request');
  const missing = queue.submit('demo/text/echo', { input: { image: file('/nowhere/cat.png') } });
  await expect(missing).rejects.toBeInstanceOf(NowServingError);
  await expect(missing).rejects.toMatchObject({ code: 'unreadable_file' });
  const aborted = queue.submit('demo/text/echo', {
    input: { image: new Blob(['x']) },
    signal: AbortSignal.abort(),
  });
  await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  expect(await service.query('SELECT FROM request')).toHaveLength(before.length);
});

import { createFalClient } from '@fal-ai/client';
import { falAt } from '../support/fal-client.js';
import { fileId } from '../support/file-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { keyHeader } from '../support/queue-calls.js';

let service: TestService;
beforeAll(async () => (service = await startTestService({ config: { adapters: ['fal'] } })));
afterAll(() => service.stop());

const cat = (): Blob => new Blob(['meow'], { type: 'image/png' });

test('the published client uploads a Blob within an input', async () => {
  const fal = falAt(service);
  const { data } = await fal.subscribe('demo/text/echo', { input: { images: [cat()], prompt: 'x' } });
  const { images, prompt } = data as { images: string[]; prompt: string };
  expect([fileId(images[0]!), prompt]).toEqual([expect.any(String), 'x']);
  const answer = await fetch(images[0]!);
  expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['image/png', 'meow']);
});

test('the published client uploads a named file by itself, also through "proxyUrl"', async () => {
  const fal = createFalClient({
    credentials: service.key,
    proxyUrl: { url: `${service.url}/fal`, when: 'always' },
  });
  const url = await fal.storage.upload(new File(['meow'], 'a cat.png', { type: 'image/png' }));
  expect(url).toMatch(/\/a%20cat\.png$/);
  expect(await (await fetch(url)).text()).toBe('meow');
});

test('errors come in the form of the adapter', async () => {
  const answer = await fetch(`${service.url}/fal/storage/upload/initiate`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body: '{}',
  });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { detail: expect.stringContaining('content_type'), error_type: 'bad_request' },
  ]);
});

import { modelIdOfPath } from './model-path.js';

it.each([
  ['/v1/queue/acme/image/upscale', 'acme/image/upscale'],
  ['/v1/queue/one', 'one'],
  ['/v1/queue/acme/image/upscale/', 'acme/image/upscale'],
  ['/v1/queue/acme/image/upscale?webhook=x&logs=1', 'acme/image/upscale'],
  ['/v1/queue/acme/image/upscale?a=/v1/queue/b', 'acme/image/upscale'],
  ['/v1/queue/%61cme/image', 'acme/image'],
  ['/v1/queue/v1/queue/acme', 'v1/queue/acme'],
  ['/v1/queue/acme%2Fimage%2Fupscale', 'acme/image/upscale'],
  ['/v1/queue/acme/image%2fupscale', 'acme/image/upscale'],
  ['/v1/queue/acme%2Fimage/upscale/?a', 'acme/image/upscale'],
  ['/v1/models/acme/image%2Fupscale/', 'acme/image/upscale'],
  ['/V1/Models/one?x', 'one'],
  // A doubly encoded path is decoded once.
  ['/v1/queue/acme%252Fimage', 'acme%2Fimage'],
])('%s names the model %s', (url, modelId) => expect(modelIdOfPath(url)).toBe(modelId));

it.each([
  ['/fal/acme/image?x', '/fal', 'acme/image'],
  ['/FAL/run/acme%2Fimage/', '/fal/run', 'acme/image'],
])('%s names, after the root %s, the model %s', (url, root, modelId) =>
  expect(modelIdOfPath(url, root)).toBe(modelId),
);

it.each(['/v1/queue/%', '/v1/queue/acme/%zz', '/v1/queue/%c3', '/v1/queue/%ff%fe'])(
  'a path with wrong percent-encoding names no model: %s',
  (url) => expect(modelIdOfPath(url)).toBeUndefined(),
);

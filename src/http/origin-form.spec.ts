import { originForm } from './origin-form.js';

it.each([
  ['/v1/queue/acme?delay=1h', '/v1/queue/acme?delay=1h'],
  ['/v1/queue/acme?delay=1h#x', '/v1/queue/acme?delay=1h'],
  ['/v1/queue/acme#?delay=1h', '/v1/queue/acme'],
  ['http://example.org/v1/queue/acme/image', '/v1/queue/acme/image'],
  ['HTTPS://example.org:8443/v1/queue/acme/image?x#y', '/v1/queue/acme/image?x'],
  ['http://example.org', '/'],
  ['http://example.org?x', '/?x'],
  ['http://example.org#x', '/'],
  ['//example.org/v1', '//example.org/v1'],
  ['/a?url=http://b#c', '/a?url=http://b'],
  ['/a\\b', '/a\\b'],
  ['*', '*'],
])('%s asks for %s', (target, path) => expect(originForm(target)).toBe(path));

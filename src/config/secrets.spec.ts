import { parseSecretsKey, parseWebhookSecret } from './secrets.js';

const bytes = (count: number): Buffer => Buffer.alloc(count, 7);

test.each([24, 32, 64])('a webhook secret may have %i bytes', (count) => {
  const secret = `whsec_${bytes(count).toString('base64')}`;
  expect(parseWebhookSecret(secret)).toBe(secret);
});

test.each([
  bytes(32).toString('base64'),
  'whsec_',
  `whsec_${bytes(23).toString('base64')}`,
  'whsec_not base64 at all, not at all',
])('a wrong webhook secret is refused with the expected format', (secret) =>
  expect(() => parseWebhookSecret(secret)).toThrow(/^expected whsec_ and 24 to 64 random bytes/),
);

test.each(['base64', 'hex'] as const)('the secrets key may be encoded in %s', (encoding) =>
  expect(parseSecretsKey(bytes(32).toString(encoding))).toEqual(bytes(32)),
);

test.each([bytes(31).toString('base64'), bytes(33).toString('hex'), 'secret', '*'.repeat(43)])(
  'a wrong secrets key is refused with the expected format',
  (key) => expect(() => parseSecretsKey(key)).toThrow(/^expected 32 random bytes in base64 or hex/),
);

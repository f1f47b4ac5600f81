import { createHmac, randomBytes } from 'node:crypto';
import { verifyWebhook } from '../../clients/typescript/src/index.js';

const bytes = randomBytes(24);
const secret = `whsec_${bytes.toString('base64')}`;
const body = JSON.stringify({
  type: 'request.completed',
  request_id: 'r1',
  payload: { text: 'žluťoučký 🐈' },
});
const now = (): number => Math.floor(Date.now() / 1_000);

const sign = (text = body, { id = 'msg_1', at = now(), by = bytes } = {}): string =>
  `v1,${createHmac('sha256', by).update(`${id}.${at}.${text}`).digest('base64')}`;

const headers = (signature = sign(), at: number | string = now()): Record<string, string> => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(at),
  'webhook-signature': signature,
});
const codeOf = (...args: Parameters<typeof verifyWebhook>): Promise<unknown> =>
  verifyWebhook(...args).then(
    () => 'verified',
    (error: { code?: string; name: string }) => error.code ?? error.name,
  );

it.each([
  ['the fields of Node', headers()],
  ['a Headers', new Headers(headers())],
  [
    'fields in capitals',
    { 'Webhook-Id': 'msg_1', 'WEBHOOK-TIMESTAMP': `${now()}`, 'Webhook-Signature': sign() },
  ],
  ['lists of one', Object.fromEntries(Object.entries(headers()).map(([name, value]) => [name, [value]]))],
])('%s', async (_name, fields) => {
  expect(await verifyWebhook(body, fields, secret)).toEqual(JSON.parse(body));
});

it('takes a body as bytes, and a secret without its prefix', async () => {
  const raw = Buffer.from(body);
  expect(await codeOf(raw, headers(), secret)).toBe('verified');
  expect(await codeOf(new Uint8Array(raw).buffer, headers(), bytes.toString('base64'))).toBe('verified');
});

it('takes a secret with the line end of a file', async () =>
  expect(await codeOf(body, headers(), `${secret}\n`)).toBe('verified'));

it('accepts one valid signature among others, as during the rotation of a secret', async () => {
  const other = sign(body, { by: randomBytes(24) });
  expect(await codeOf(body, headers(`${other} v1a,AAAA v1,%% ${sign()}`), secret)).toBe('verified');
  expect(await codeOf(body, headers(`${other} v1a,${sign().slice(3)}`), secret)).toBe('invalid_signature');
});

it.each([
  ['another body', `${body} `, headers()],
  ['another id', body, { ...headers(), 'webhook-id': 'msg_2' }],
  ['another time', body, headers(sign(), now() - 1)],
  ['another secret', body, headers(sign(body, { by: randomBytes(24) }))],
  ['no signature', body, { ...headers(), 'webhook-signature': '' }],
  ['a short signature', body, headers('v1,AAAA')],
  ['no fields', body, {}],
  ['a time that is none', body, headers(sign(), `${now()}x`)],
])('%s is refused', async (_name, text, fields) => {
  expect(await codeOf(text, fields, secret)).toBe('invalid_signature');
});

it.each([-301, 302])('a timestamp %i s from now is refused', async (offset) => {
  const at = now() + offset;
  expect(await codeOf(body, headers(sign(body, { at }), at), secret)).toBe('outside_tolerance');
});

it('requires a secret', async () => {
  expect(await codeOf(body, headers(), 'whsec_')).toBe('TypeError');
});

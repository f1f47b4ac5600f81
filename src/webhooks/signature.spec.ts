import { Webhook } from 'standardwebhooks';
import { sign, verify } from './signature.js';

const secrets = ['one', 'two'].map((text) => `whsec_${Buffer.from(text.repeat(10)).toString('base64')}`);
const [first, second] = secrets as [string, string];
const nowMs = Date.now();
const timestampS = Math.floor(nowMs / 1_000);
const body = '{"text":"é😀"}';
const message = { id: 'a1', timestampS, body };

const headers = (signature: string): Record<string, string> => ({
  'webhook-id': 'a1',
  'webhook-timestamp': String(timestampS),
  'webhook-signature': signature,
});

test('the example of the specification gets the signature from the specification', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const example = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampS: 1_614_265_330,
    body: '{"test": 2432232314}',
  };
  expect(sign(example, [secret])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('an official library and the service’s own check verify a signed message', () => {
  const signed = headers(sign(message, [first]));
  expect(new Webhook(first).verify(body, signed)).toEqual({ text: 'é😀' });
  expect(verify(signed, Buffer.from(body), first, nowMs)).toBeUndefined();
});

test('while a secret is rotated the old and the new one verify', () => {
  const signed = headers(sign(message, secrets));
  for (const secret of secrets) expect(() => new Webhook(secret).verify(body, signed)).not.toThrow();
  for (const secret of secrets) expect(verify(signed, Buffer.from(body), secret, nowMs)).toBeUndefined();
});

test.each([
  ['another secret', headers(sign(message, [second])), body, nowMs],
  ['another body', headers(sign(message, [first])), `${body} `, nowMs],
  ['another id', { ...headers(sign(message, [first])), 'webhook-id': 'a2' }, body, nowMs],
  ['a time that is long over', headers(sign(message, [first])), body, nowMs + 301_000],
  ['a time to come', headers(sign(message, [first])), body, nowMs - 302_000],
  ['no time', { ...headers(sign(message, [first])), 'webhook-timestamp': 'now' }, body, nowMs],
  ['no signature', {}, body, nowMs],
])('%s is not genuine', (_what, signed, text, at) => {
  expect(verify(signed, Buffer.from(text), first, at)).toEqual(expect.any(String));
});

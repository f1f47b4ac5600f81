import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { BoundedCache } from '../tools/bounded-cache.js';

/* Standard Webhooks 1.0: https://www.standardwebhooks.com */

/** Receivers should reject a timestamp that is further from now than this: it is too old, or a clock is wrong. */
const toleranceS = 300;

export interface SignedMessage {
  id: string;
  timestampS: number;
  body: string | Buffer;
}

/** Returns `v1,…` once for each secret (`whsec_…`), separated by spaces. */
export function sign(message: SignedMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${digest(message, secret)}`).join(' ');
}

/** Returns what is wrong with a received message. undefined: it is genuine. */
export function verify(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  secret: string,
  nowMs: number,
): string | undefined {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`]);
  if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') {
    return 'it lacks one of webhook-id, webhook-timestamp and webhook-signature';
  }
  const timestampS = Number(time);
  if (!(Math.abs(nowMs / 1_000 - timestampS) <= toleranceS)) return 'its webhook-timestamp is not current';
  const expected = Buffer.from(`v1,${digest({ id, timestampS, body }, secret)}`);
  const isGenuine = signatures.split(' ').some((text) => {
    const signature = Buffer.from(text);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isGenuine ? undefined : 'none of its signatures was made with this secret';
}

function digest({ id, timestampS, body }: SignedMessage, secret: string): string {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestampS}.`).update(body).digest('base64');
}

/** Keys by secret. Given bytes, Node makes a key for each signature, which takes five times as long as signing. */
const keys = new BoundedCache<KeyObject>(1_000);

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret, 0);
  if (known !== undefined) return known;
  const key = createSecretKey(secret.replace(/^whsec_/, ''), 'base64');
  keys.set(secret, key, Infinity);
  return key;
}

import { createHash } from 'node:crypto';
import { DomainError } from '../errors/domain-error.js';

/**
 * Reads the `Idempotency-Key` header: a quoted string as the IETF draft (draft-ietf-httpapi-idempotency-key-header)
 * has it, or the bare word that clients send. undefined: there is none.
 */
export function parseIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header.trim() : '';
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text);
  const key = quoted === null ? text : quoted[1]!.replaceAll(/\\(["\\])/g, '$1');
  if (key.length < 1 || key.length > 255 || (quoted === null && !/^[\x21\x23-\x7e]+$/.test(key))) {
    throw new DomainError(
      'invalid_idempotency_key',
      'The Idempotency-Key header takes 1 to 255 printable ASCII characters, quoted or without spaces.',
    );
  }
  return key;
}

/** Two submissions are the same request when model and body are. */
export function fingerprintOf(modelId: string, body: string): Buffer {
  return createHash('sha256').update(modelId).update('\n').update(body).digest();
}

import { ApiPropertyOptional } from '@nestjs/swagger';
import { DomainError } from '../../errors/domain-error.js';
import { HeaderField } from '../../http/input/option.js';
import { rule } from '../../tools/rules.js';

export const maxIdempotencyKeyLength = 255;

/** Accepts a quoted string, as in the IETF draft, or the bare token that clients send. */
const idempotencyKey = rule({ type: String, maxLength: 512 }, (header) => {
  const text = typeof header === 'string' ? header.trim() : '';
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text);
  const key = quoted === null ? text : quoted[1]!.replaceAll(/\\(["\\])/g, '$1');
  if (
    key.length < 1 ||
    key.length > maxIdempotencyKeyLength ||
    (quoted === null && !/^[\x21\x23-\x7e]+$/.test(key))
  ) {
    throw new DomainError(
      'invalid_idempotency_key',
      `The Idempotency-Key header takes 1 to ${maxIdempotencyKeyLength} printable ASCII characters, quoted or without spaces.`,
    );
  }
  return key;
});

export class SubmitHeaders {
  @HeaderField('Idempotency-Key', idempotencyKey, {
    // No example, because /docs would send it with every try: the same key with another body.
    description:
      '1 to 255 printable ASCII characters, quoted (draft-ietf-httpapi-idempotency-key-header) or bare. A ' +
      'submission with the same API key, model, body and idempotency key within 24 hours gets the request of ' +
      'the first submission, and `Idempotent-Replayed: true`. Example: ' +
      '`"9b2d6c1e-4a7f-4d63-9c0e-2f1a8b7d5e34"`.',
  })
  'idempotency-key': string | undefined;

  /** Read by `traceContextOf`, with `tracestate`. */
  @ApiPropertyOptional({
    type: String,
    // No example, for the same reason.
    description:
      'The trace that the request belongs to (W3C Trace Context), with its `tracestate` if there is one. It is ' +
      'stored with the request, and passed on to the model and to webhooks. An invalid one is ignored. ' +
      'Example: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.',
  })
  traceparent: string | undefined;
}

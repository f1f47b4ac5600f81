/** What an `Authorization` header presents. */
export type Presented =
  { kind: 'nothing' } | { kind: 'malformed'; reason: string } | { kind: 'secret'; secret: string };

/** `Key <key>` or `Bearer <key>`, the scheme in any case. No reason repeats what was sent. */
export function parseAuthorization(header: string | undefined): Presented {
  if (header === undefined) return { kind: 'nothing' };
  const [, scheme, secret] = /^\s*(\S+)(?:\s+(.*?))?\s*$/s.exec(header) ?? [];
  if (scheme === undefined || !/^(key|bearer)$/i.test(scheme)) {
    return { kind: 'malformed', reason: 'The Authorization header must be "Key <API key>".' };
  }
  if (secret === undefined || !/^[\x21-\x7e]{1,512}$/.test(secret)) {
    return { kind: 'malformed', reason: `The Authorization header has no API key after "${scheme}".` };
  }
  return { kind: 'secret', secret };
}

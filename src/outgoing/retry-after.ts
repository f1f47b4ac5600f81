/**
 * Returns the milliseconds that a `Retry-After` field asks for (RFC 9110, 10.2.3): seconds or an HTTP date. undefined:
 * the field is missing or malformed.
 */
export function parseRetryAfter(field: string | undefined, nowMs: number): number | undefined {
  const text = field?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Each of the three forms of an HTTP date begins with the name of a day.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? parseHttpDate(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Returns the time of an HTTP date, or NaN. A date without a zone, as asctime writes it, is in GMT. */
export function parseHttpDate(text: string): number {
  const hasZone = /(?:[A-Z]|[+-]\d\d:?\d\d)$/i.test(text);
  return Date.parse(hasZone ? text : `${text} GMT`);
}

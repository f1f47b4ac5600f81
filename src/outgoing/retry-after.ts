/**
 * Returns the milliseconds that a `Retry-After` field asks for (RFC 9110, 10.2.3): seconds or an HTTP date. undefined:
 * the field is missing or malformed.
 */
export function parseRetryAfter(field: string | undefined, nowMs: number): number | undefined {
  const text = field?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Each of the three forms of an HTTP date begins with the name of a day.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

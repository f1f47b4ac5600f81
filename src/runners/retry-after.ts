const maxRetryAfterMs = 3_600_000;

/** `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110), at most an hour; undefined: not usable. */
export function parseRetryAfter(value: string | undefined, now = Date.now()): number | undefined {
  const text = value?.trim() ?? '';
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2},? /.test(text)
      ? Date.parse(text) - now
      : NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

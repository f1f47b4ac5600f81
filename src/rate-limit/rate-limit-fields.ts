import { type Admission, retryAfterMs, type WindowState } from './admission.js';

/**
 * The fields of a limited answer: `X-RateLimit-*` of the tighter window, whose reset is in seconds from now,
 * and both windows as in draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateLimitFields({ windows }: Admission): [name: string, value: string][] {
  const tighter = windows.reduce((one, other) => (isTighter(other, one) ? other : one));
  return [
    ['X-RateLimit-Limit', String(tighter.window.limit)],
    ['X-RateLimit-Remaining', String(tighter.remaining)],
    ['X-RateLimit-Reset', String(wholeSeconds(tighter.resetMs))],
    [
      'RateLimit-Policy',
      windows
        .map(({ window }) => `"${window.name}";q=${window.limit};w=${wholeSeconds(window.windowMs)}`)
        .join(', '),
    ],
    [
      'RateLimit',
      windows
        .map(({ window, remaining, resetMs }) => `"${window.name}";r=${remaining};t=${wholeSeconds(resetMs)}`)
        .join(', '),
    ],
  ];
}

/** `Retry-After` of a refusal: a caller alone with its key who waits that long is admitted. */
export function retryAfterSeconds(admission: Admission): number {
  return Math.max(1, wholeSeconds(retryAfterMs(admission)));
}

/** Fewer calls left; of two with as many, the one that takes longer to recover. */
function isTighter(one: WindowState, other: WindowState): boolean {
  return one.remaining === other.remaining ? one.resetMs > other.resetMs : one.remaining < other.remaining;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

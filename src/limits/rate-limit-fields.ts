import type { RateLimits } from '../config/rate-limits.js';
import type { WindowState } from './budget.js';

const policies = new WeakMap<RateLimits[number], string>();

/**
 * The header fields of limited answers, names and values in turn: `X-RateLimit-*` of the tighter window, whose reset is
 * in seconds from now, and all windows as in draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateLimitFields(windows: readonly WindowState[]): string[] {
  const tighter = windows.reduce((one, other) => (isTighter(other, one) ? other : one));
  return [
    'X-RateLimit-Limit',
    String(tighter.window.limit),
    'X-RateLimit-Remaining',
    String(tighter.remaining),
    'X-RateLimit-Reset',
    String(wholeSeconds(tighter.resetMs)),
    'RateLimit-Policy',
    windows.map(policyOf).join(', '),
    'RateLimit',
    windows.map(stateOf).join(', '),
  ];
}

function stateOf({ window, remaining, resetMs }: WindowState): string {
  return `"${window.name}";r=${remaining};t=${wholeSeconds(resetMs)}`;
}

function policyOf({ window }: WindowState): string {
  let text = policies.get(window);
  if (text === undefined) {
    text = `"${window.name}";q=${window.limit};w=${wholeSeconds(window.windowMs)}`;
    policies.set(window, text);
  }
  return text;
}

/** Returns whether `one` has fewer calls left, or as many and takes longer to recover. */
function isTighter(one: WindowState, other: WindowState): boolean {
  return one.remaining === other.remaining ? one.resetMs > other.resetMs : one.remaining < other.remaining;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

import type { WindowState } from './window-state.js';

/**
 * The fields of limited answers: `X-RateLimit-*` of the tighter window, whose reset is in seconds from now, and all
 * windows as in draft-ietf-httpapi-ratelimit-headers-10. Calls that were counted together differ only in what
 * remains; the rest is put together once.
 */
export class FieldTexts {
  private readonly tighter: WindowState;
  private readonly limit: string;
  private readonly reset: string;
  private readonly policy: string;
  /** Before each window's count, and after the last one. */
  private readonly pieces: string[];

  constructor(private readonly windows: readonly WindowState[]) {
    this.tighter = windows.reduce((one, other) => (isTighter(other, one) ? other : one));
    this.limit = String(this.tighter.window.limit);
    this.reset = String(wholeSeconds(this.tighter.resetMs));
    this.policy = windows
      .map(({ window }) => `"${window.name}";q=${window.limit};w=${wholeSeconds(window.windowMs)}`)
      .join(', ');
    const names = windows.map(({ window }) => `"${window.name}";r=`);
    const resets = windows.map(({ resetMs }) => `;t=${wholeSeconds(resetMs)}`);
    this.pieces = [
      names[0]!,
      ...resets.map((reset, i) => (i + 1 < names.length ? `${reset}, ${names[i + 1]!}` : reset)),
    ];
  }

  /** `more`: so many calls more remained in each window. */
  fields(more: number): string[] {
    let all = this.pieces[0]!;
    for (let i = 0; i < this.windows.length; i++)
      all += (this.windows[i]!.remaining + more).toString() + this.pieces[i + 1]!;
    return [
      'X-RateLimit-Limit',
      this.limit,
      'X-RateLimit-Remaining',
      (this.tighter.remaining + more).toString(),
      'X-RateLimit-Reset',
      this.reset,
      'RateLimit-Policy',
      this.policy,
      'RateLimit',
      all,
    ];
  }
}

/** Fewer calls left; of two with as many, the one that takes longer to recover. */
function isTighter(one: WindowState, other: WindowState): boolean {
  return one.remaining === other.remaining ? one.resetMs > other.resetMs : one.remaining < other.remaining;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

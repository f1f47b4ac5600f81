/** How slow a client may be, in either direction. */
export interface PaceRules {
  /** Bytes a second that are required on average, after the first `graceMs`. */
  minRate: number;
  graceMs: number;
  /** A client that moves no byte for this time is too slow, whatever came before. */
  silenceMs: number;
}

export const shippedPace: PaceRules = { minRate: 16 * 1024, graceMs: 10_000, silenceMs: 30_000 };

/** How the bytes of one direction move while they are awaited. Times are in milliseconds. */
export class Progress {
  since: number | undefined;
  private first = 0;
  private last = 0;
  movedAt = 0;
  /** The last look found it too slow. */
  private wasTooSlow = false;

  /** `bytes`: all bytes that have moved on the connection so far. */
  move(bytes: number, now: number): void {
    if (this.since === undefined) {
      this.since = this.movedAt = now;
      this.first = this.last = bytes;
    } else if (bytes > this.last) {
      this.last = bytes;
      this.movedAt = now;
    }
  }

  /** The bytes are no longer awaited. */
  end(): void {
    this.since = undefined;
    this.wasTooSlow = false;
  }

  get moved(): number {
    return this.last - this.first;
  }

  /**
   * Returns whether two looks in a row have found it too slow. Bytes that had not been read yet at the first one, because
   * this process stood still, have been read by then.
   */
  staysTooSlow(now: number, rules: PaceRules): boolean {
    const was = this.wasTooSlow;
    this.wasTooSlow = isTooSlow(this, now, rules);
    return was && this.wasTooSlow;
  }
}

/** The rate is the average over the whole time, so that a line that stops for some seconds is served. */
export function isTooSlow(progress: Progress, now: number, rules: PaceRules): boolean {
  const { since, movedAt, moved } = progress;
  if (since === undefined) return false;
  if (now - movedAt >= rules.silenceMs) return true;
  return moved < (rules.minRate / 1_000) * (now - since - rules.graceMs);
}

import type { GoneHolder, HolderBeat } from './share-store.js';

/** A holder whose last beat is this old admits no more: `fenceMs` in share-keeper.ts is as long. */
const silentAfterMs = 3_000;
/** A node that did not look for this long cannot distinguish a silent holder from its own absence. */
const maxGapMs = 2_000;
/** Longer than the longest window that a limit can have. */
const finishedAfterMs = 3_600_000 + 60_000;

/** The other holders of shares, as this node knows them. Only its own clock measures how long they have been silent. */
export class HolderWatch {
  /** The last beat that this node read of each holder, and when it first read it. */
  private readonly live = new Map<string, { beat: number; since: number }>();
  /** The time since which each holder is known to admit no more. */
  private readonly left = new Map<string, number>();
  private lookedAt = -Infinity;

  /** Nodes that hold shares now, this one included. */
  get nodes(): number {
    return this.live.size + 1;
  }

  /** Whether no other node holds shares or may have left any. */
  get isOnly(): boolean {
    return this.live.size + this.left.size === 0;
  }

  /** Takes all other holders that exist now. A holder whose row is gone had stopped before. */
  see(holders: readonly HolderBeat[], now: number): void {
    const looksAnew = now - this.lookedAt > maxGapMs;
    this.lookedAt = now;
    const ids = new Set(holders.map(({ id }) => id));
    for (const id of this.live.keys()) {
      if (ids.has(id)) continue;
      this.live.delete(id);
      this.left.set(id, now);
    }
    for (const { id, beat } of holders) {
      if (looksAnew || this.live.get(id)?.beat !== beat) this.live.set(id, { beat, since: now });
    }
  }

  /** Notes holders that are known to be gone by other means. */
  noteGone(ids: readonly string[], now: number): void {
    for (const id of ids) if (!this.left.has(id)) this.left.set(id, now);
  }

  silent(now: number): HolderBeat[] {
    return [...this.live]
      .filter(([, { since }]) => now - since >= silentAfterMs)
      .map(([id, { beat }]) => ({ id, beat }));
  }

  gone(now: number): GoneHolder[] {
    return [...this.left].map(([id, since]) => ({ id, forMs: now - since }));
  }

  /** Returns and forgets the holders whose shares count for nothing in any window. */
  takeFinished(now: number): string[] {
    const finished = [...this.left].filter(([, since]) => now - since > finishedAfterMs).map(([id]) => id);
    for (const id of finished) this.left.delete(id);
    return finished;
  }
}

import type { GoneHolder, HolderBeat } from './share-store.js';

/** A holder that has not beaten for so long admits no more: as long as it may admit after its last beat was sent. */
const silentAfterMs = 3_000;
/** Who did not look for so long cannot distinguish a silent holder from its own absence. */
const maxGapMs = 2_000;
/** Longer than the longest window that a limit can have. */
const finishedAfterMs = 3_600_000 + 60_000;

/** What this node knows of the other holders of shares. Only its own clock says how long they have been silent. */
export class HolderWatch {
  /** And since when each has been at its beat, as far as this node read. */
  private readonly live = new Map<string, { beat: number; since: number }>();
  /** Since when each is known to admit no more. */
  private readonly left = new Map<string, number>();
  private lookedAt = -Infinity;

  /** Nodes that hold shares now, this one included. */
  get nodes(): number {
    return this.live.size + 1;
  }

  /** Whether no other holds shares now, nor may have left any. */
  get isOnly(): boolean {
    return this.live.size + this.left.size === 0;
  }

  /** All others that there are now. One whose row is gone had stopped before. */
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

  /** Holders that are known to be gone by other means. */
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

  /** Those whose shares count for nothing in any window; forgets them. */
  takeFinished(now: number): string[] {
    const finished = [...this.left].filter(([, since]) => now - since > finishedAfterMs).map(([id]) => id);
    for (const id of finished) this.left.delete(id);
    return finished;
  }
}

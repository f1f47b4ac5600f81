const minMs = 25;
/** Each message wakes every process and a backend for it: where much is going on, waking them often buys little. */
const msForEachChangeInMs = 40;
const maxMsForEachNode = 60;
/** A message of another process is late by so much at most. */
const maxMs = 250;

/** How long a node waits between its messages to the others. */
export class NotifyThrottle {
  private publishedAt = 0;
  private changesInMs = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  published(changes: number): void {
    const now = this.now();
    this.changesInMs = changes / Math.max(1, now - this.publishedAt);
    this.publishedAt = now;
  }

  /** How long after the last message the next may follow, among so many nodes. */
  minIntervalMs(nodes: number): number {
    const ofChanges = Math.min(maxMsForEachNode, msForEachChangeInMs * this.changesInMs);
    return Math.min(maxMs, Math.max(minMs, nodes * ofChanges));
  }
}

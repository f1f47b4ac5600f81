const minMs = 25;
/** Each message wakes every process and a database backend for it. Under load, frequent wake-ups gain little. */
const msForEachChangeInMs = 40;
const maxMsForEachNode = 60;
/** A message of another process is late by at most this long. */
const maxMs = 250;

/** Decides how long a node waits between its messages to the others. */
export class NotifyThrottle {
  private publishedAt = 0;
  private changesInMs = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  published(changes: number): void {
    const now = this.now();
    this.changesInMs = changes / Math.max(1, now - this.publishedAt);
    this.publishedAt = now;
  }

  /** Returns the shortest time from one message to the next, among this many nodes. */
  minIntervalMs(nodes: number): number {
    const ofChanges = Math.min(maxMsForEachNode, msForEachChangeInMs * this.changesInMs);
    return Math.min(maxMs, Math.max(minMs, nodes * ofChanges));
  }
}

/**
 * Each message wakes every process, and its connection's backend: after one, a node waits so long for each of the
 * nodes, so that the more there are, the fewer each of them sends…
 */
const msForEachNode = 12;
/** …and so long for each change in a millisecond: where much is going on, waking everybody more often buys little. */
const msForEachChangeInMs = 100;
const mostMs = 120;

/** How far apart a node's messages to the others are. */
export class MessagePace {
  private toldAt = 0;
  private changesInMs = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** A message goes out now, and tells of so many changes. */
  told(changes: number): void {
    const now = this.now();
    this.changesInMs = changes / Math.max(1, now - this.toldAt);
    this.toldAt = now;
  }

  /** How long after the last message the next may follow, among so many nodes. */
  apartMs(nodes: number): number {
    return Math.min(mostMs, Math.max(msForEachNode * nodes, msForEachChangeInMs * this.changesInMs));
  }
}

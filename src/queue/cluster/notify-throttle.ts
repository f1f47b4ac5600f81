const leastMs = 25;
/**
 * Each message wakes every process, and its connection's backend. So a node waits the longer after one the more
 * changes there are in a millisecond, for each of the nodes: where much is going on, waking everybody often buys little.
 */
const msForEachChangeInMs = 40;
const mostMsForEachNode = 60;
/** What another process tells is late by so much at most. */
const mostMs = 250;

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
    const ofChanges = Math.min(mostMsForEachNode, msForEachChangeInMs * this.changesInMs);
    return Math.min(mostMs, Math.max(leastMs, nodes * ofChanges));
  }
}

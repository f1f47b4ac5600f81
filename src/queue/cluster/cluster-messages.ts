import { Injectable } from '@nestjs/common';
import { NotifyChannel } from '../../database/notify-channel.js';
import { Cluster } from './cluster.js';
import type { EntryChange } from '../waiting/waiting-index.js';
import { NotifyThrottle } from './notify-throttle.js';
import { QueueEvents, type QueueChanges } from '../queue-events.js';

/** Keys that differ in their seq only, as most of one message do. */
type WireChanges = [modelId: string, priority: number, attempt: number, ...seqs: number[]];

interface WireMessage extends Pick<QueueChanges, 'work' | 'changed' | 'cancelled' | 'circuits' | 'missed'> {
  node: string;
  /** A node that has just joined asks the others to publish to it. */
  hello?: true;
  added?: WireChanges[];
  removed?: WireChanges[];
}

/** Until the others have noticed a new node by its heartbeat and publish to it. */
const noticedAfterMs = 3_000;
/** So that a message stays below the channel's limit whatever its items are. */
const maxMessageCharacters = 7_000;
/** So that keys alone stay below it. */
const maxSeqs = 300;

/** Publishes this process's changes to the others, and theirs in this one. */
@Injectable()
export class ClusterMessages {
  private pending: QueueChanges[] = [];
  private announcements: Pick<WireMessage, 'hello' | 'missed'>[] = [];
  private readonly throttle = new NotifyThrottle();
  private readonly ownStart: string;
  private secondLook: NodeJS.Timeout | undefined;

  constructor(
    private readonly channel: NotifyChannel,
    private readonly cluster: Cluster,
    private readonly events: QueueEvents,
  ) {
    this.ownStart = JSON.stringify({ node: cluster.nodeId }).slice(0, -1);
    events.subscribe((changes, origin) => {
      if (origin === 'elsewhere' || !cluster.hasPeers) return;
      this.pending.push(changes);
      channel.requestFlush();
    });
    cluster.changes.subscribe(({ someLeft }) => {
      if (someLeft) this.publishMissed(); // what a lost node did last may not have been published
    });
  }

  async start(): Promise<void> {
    await this.channel.start({
      message: (payload) => this.receive(payload),
      reconnected: () => {
        this.announce({ missed: true });
        this.publishMissed();
      },
      collect: () => this.collect(),
      minIntervalMs: () => this.throttle.minIntervalMs(this.cluster.nodes.length),
    });
    this.announce({ hello: true });
    if (this.cluster.hasPeers)
      this.secondLook = setTimeout(() => this.publishMissed(), noticedAfterMs).unref();
  }

  stop(): Promise<void> {
    clearTimeout(this.secondLook);
    return this.channel.stop();
  }

  private publishMissed(): void {
    this.events.publish({ missed: true }, 'elsewhere');
  }

  private announce(what: Pick<WireMessage, 'hello' | 'missed'>): void {
    this.announcements.push(what);
    this.channel.requestFlush();
  }

  private collect(): string[] {
    const pending = this.pending.splice(0);
    const added = pending.flatMap((changes) => changes.added ?? []);
    const removed = pending.flatMap((changes) => changes.removed ?? []);
    const changed = pending.flatMap((changes) => changes.changed ?? []);
    const cancelled = pending.flatMap((changes) => changes.cancelled ?? []);
    const circuits = pending.flatMap((changes) => changes.circuits ?? []);
    const work = new Set(pending.flatMap((changes) => changes.work ?? []));
    this.throttle.published(added.length + removed.length + changed.length);
    // Removals first: an entry may have been added again since, and its attempt keeps out one that was not.
    const entries = { removed: groupSeqs(removed), added: groupSeqs(added) };
    const chunks = chunkMessages({ ...entries, work: [...work], changed, cancelled, circuits });
    const node = this.cluster.nodeId;
    return [...this.announcements.splice(0), ...chunks].map((part) => JSON.stringify({ node, ...part }));
  }

  private receive(payload: string): void {
    if (payload.startsWith(this.ownStart)) return;
    const { node, missed, added = [], removed = [], ...rest } = JSON.parse(payload) as WireMessage;
    this.cluster.markSeen(node);
    if (missed === true) this.publishMissed();
    const entries = { added: added.flatMap(fromWire), removed: removed.flatMap(fromWire) };
    this.events.publish({ ...entries, ...rest }, 'elsewhere');
  }
}

function groupSeqs(changes: EntryChange[]): WireChanges[] {
  const groups: WireChanges[] = [];
  let last: EntryChange | undefined;
  let seqs = 0;
  for (const change of changes) {
    const { modelId, priority, attempt, seq } = change;
    const fits =
      last?.modelId === modelId && last.priority === priority && last.attempt === attempt && seqs < maxSeqs;
    if (fits) groups.at(-1)!.push(seq);
    else groups.push([modelId, priority, attempt, seq]);
    seqs = fits ? seqs + 1 : 1;
    last = change;
  }
  return groups;
}

function chunkMessages(lists: Record<string, unknown[]>): Record<string, unknown[]>[] {
  const parts: Record<string, unknown[]>[] = [];
  let part: Record<string, unknown[]> = {};
  let size = 0;
  for (const [kind, items] of Object.entries(lists))
    for (const item of items) {
      const length = JSON.stringify(item).length + kind.length + 4;
      if (size + length > maxMessageCharacters) {
        parts.push(part);
        part = {};
        size = 0;
      }
      (part[kind] ??= []).push(item);
      size += length;
    }
  if (size > 0) parts.push(part);
  return parts;
}

function fromWire([modelId, priority, attempt, ...seqs]: WireChanges): EntryChange[] {
  return seqs.map((seq) => ({ modelId, priority, seq, attempt }));
}

import { Injectable } from '@nestjs/common';
import { NotifyChannel } from '../../database/notify-channel.js';
import { Cluster } from './cluster.js';
import { type EntryChange, WaitingIndex } from '../waiting/waiting-index.js';
import { NotifyThrottle } from './notify-throttle.js';
import { QueueEvents, type QueueChanges } from '../queue-events.js';

/**
 * Entries of one model, priority and attempt. Width 1: each entry is its seq. Width 3: each is virtual start, seq and
 * order key.
 */
type WireChanges = [modelId: string, priority: number, attempt: number, width: 1 | 3, ...entries: number[]];

interface WireMessage extends Pick<
  QueueChanges,
  | 'work'
  | 'changed'
  | 'lost'
  | 'workers'
  | 'circuits'
  | 'nextProbes'
  | 'probeNow'
  | 'suspects'
  | 'times'
  | 'missed'
> {
  /** The requests of `toStop`, by the name that nodes of earlier releases know. */
  cancelled?: string[];
  /** Requests that have more output. */
  output?: string[];
  node: string;
  /** A node that has just joined asks the others to publish to it. */
  hello?: true;
  added?: WireChanges[];
  removed?: WireChanges[];
  started?: WireChanges[];
  held?: WireChanges[];
  released?: WireChanges[];
}

/** Time until the other nodes have noticed a new node by its heartbeat and publish to it. */
const noticedAfterMs = 3_000;
/** Keeps a message below the channel's limit, whatever its items are. */
const maxMessageCharacters = 7_000;
/** Keeps each group of queue keys below that limit. */
const maxNumbers = 300;

/**
 * Publishes this process's changes to the other nodes, and their changes in this process. Two of them are `toStop` and
 * `lost`: the node that executes the run aborts it (`Dispatcher`).
 */
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
    private readonly index: WaitingIndex,
  ) {
    this.ownStart = JSON.stringify({ node: cluster.nodeId }).slice(0, -1);
    events.subscribe((changes, origin) => {
      if (origin === 'elsewhere' || !cluster.hasPeers) return;
      this.pending.push(changes);
      channel.requestFlush();
    });
    cluster.changes.subscribe(({ someLeft }) => {
      if (someLeft) this.publishMissed(); // the last changes of a lost node may not have been published
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
    const started = pending.flatMap((changes) => changes.started ?? []);
    const held = pending.flatMap((changes) => changes.held ?? []);
    const released = pending.flatMap((changes) => changes.released ?? []);
    const changed = pending.flatMap((changes) => changes.changed ?? []);
    const output = new Set(pending.flatMap((changes) => changes.output ?? []).map(({ id }) => id));
    const toStop = pending.flatMap((changes) => changes.toStop ?? []);
    const lost = pending.flatMap((changes) => changes.lost ?? []);
    const workers = pending.flatMap((changes) => changes.workers ?? []);
    const circuits = pending.flatMap((changes) => changes.circuits ?? []);
    const nextProbes = pending.flatMap((changes) => changes.nextProbes ?? []);
    const probeNow = pending.flatMap((changes) => changes.probeNow ?? []);
    const suspects = pending.flatMap((changes) => changes.suspects ?? []);
    const times = pending.flatMap((changes) => changes.times ?? []);
    const work = new Set(pending.flatMap((changes) => changes.work ?? []));
    this.throttle.published(added.length + held.length + removed.length + started.length + changed.length);
    // Removals come first: a removed entry may have been added again since. An addition before the removal has a
    // lower attempt, or the same, and is ignored.
    const entries = {
      removed: toWire(removed),
      started: toWire(started),
      added: toWire(added),
      held: toWire(held),
      released: toWire(released),
    };
    const rest = {
      work: [...work],
      changed,
      output: [...output],
      cancelled: toStop,
      lost,
      workers,
      circuits,
      nextProbes,
      probeNow,
      suspects,
      times,
    };
    const chunks = chunkMessages({ ...entries, ...rest });
    const node = this.cluster.nodeId;
    return [...this.announcements.splice(0), ...chunks].map((part) => JSON.stringify({ node, ...part }));
  }

  private receive(payload: string): void {
    if (payload.startsWith(this.ownStart)) return;
    const {
      node,
      hello,
      missed,
      added = [],
      removed = [],
      started = [],
      held = [],
      released = [],
      output = [],
      cancelled: toStop = [],
      ...rest
    } = JSON.parse(payload) as WireMessage;
    this.cluster.markSeen(node);
    if (missed === true) this.publishMissed();
    if (hello === true) this.events.publish({ times: this.index.virtualTimes() });
    const entries = {
      added: added.flatMap(fromWire),
      removed: removed.flatMap(fromWire),
      started: started.flatMap(fromWire),
      held: held.flatMap(fromWire),
      released: released.flatMap(fromWire),
    };
    this.events.publish({ ...entries, ...rest, toStop, output: output.map((id) => ({ id })) }, 'elsewhere');
  }
}

function toWire(changes: EntryChange[]): WireChanges[] {
  const groups: WireChanges[] = [];
  let last: EntryChange | undefined;
  for (const change of changes) {
    const { modelId, priority, attempt, start, seq } = change;
    const orderKey = change.orderKey ?? 0;
    const width = start === 0 && orderKey === 0 ? 1 : 3;
    const group = groups.at(-1);
    const isLike = last?.modelId === modelId && last.priority === priority && last.attempt === attempt;
    const entry = width === 1 ? [seq] : [start, seq, orderKey];
    if (isLike && group![3] === width && group!.length < maxNumbers) group!.push(...entry);
    else groups.push([modelId, priority, attempt, width, ...entry]);
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

function fromWire([modelId, priority, attempt, width, ...numbers]: WireChanges): EntryChange[] {
  const changes: EntryChange[] = [];
  for (let at = 0; at < numbers.length; at += width) {
    const [start, seq, orderKey] = width === 1 ? [0, numbers[at]!, 0] : numbers.slice(at, at + width);
    changes.push({ modelId, priority, attempt, start: start!, seq: seq!, orderKey: orderKey! });
  }
  return changes;
}

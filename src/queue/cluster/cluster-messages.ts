import { Injectable } from '@nestjs/common';
import { NotifyChannel } from '../../database/notify-channel.js';
import { Cluster } from './cluster.js';
import type { EntryChange } from '../waiting/waiting-index.js';
import { NotifyThrottle } from './notify-throttle.js';
import { NodeIdentity } from './node-identity.js';
import { QueueEvents, type QueueChanges } from '../queue-events.js';

/** Keys that differ in their seq only, as most of one message do. */
type WireChanges = [modelId: string, priority: number, attempt: number, ...seqs: number[]];

interface WireMessage {
  /** The sender. */
  node: string;
  /** A node that has just joined asks the others to publish to it. */
  hello?: true;
  /** The sender's connection was broken: its changes of that time may not have been published. */
  missed?: true;
  added?: WireChanges[];
  removed?: WireChanges[];
  work?: string[];
  changed?: string[];
  cancelled?: string[];
}

/** So that a message stays below the channel's limit whatever its items are. */
const maxMessageCharacters = 7_000;
/** So that keys alone stay below it. */
const maxSeqs = 300;

/** Publishes this process's changes to the others, and theirs in this one. */
@Injectable()
export class ClusterMessages {
  private unsubscribe: (() => void) | undefined;
  /** What has changed since the channel last asked. */
  private pending: QueueChanges[] = [];
  private readonly throttle = new NotifyThrottle();
  private readonly ownStart: string;

  constructor(
    private readonly channel: NotifyChannel,
    private readonly cluster: Cluster,
    private readonly node: NodeIdentity,
    private readonly events: QueueEvents,
  ) {
    this.ownStart = JSON.stringify({ node: node.id }).slice(0, -1);
  }

  /** `caughtUp` is called when messages may have been missed. */
  async start(caughtUp: () => void): Promise<void> {
    await this.channel.start({
      message: (payload) => this.receive(payload, caughtUp),
      reconnected: () => {
        this.channel.send(JSON.stringify({ node: this.node.id, missed: true } satisfies WireMessage));
        caughtUp();
      },
      collect: () => this.collect(),
      minIntervalMs: () => this.throttle.minIntervalMs(this.cluster.nodes.length),
    });
    this.unsubscribe = this.events.subscribe((changes, origin) => {
      if (origin === 'here' && this.cluster.hasPeers) this.queue(changes);
    });
    this.hello();
  }

  async stop(): Promise<void> {
    this.unsubscribe?.();
    await this.channel.stop();
  }

  private hello(): void {
    this.channel.send(JSON.stringify({ node: this.node.id, hello: true } satisfies WireMessage));
  }

  private queue(changes: QueueChanges): void {
    this.pending.push(changes);
    this.channel.requestFlush();
  }

  private collect(): string[] {
    const pending = this.pending.splice(0);
    const changes = {
      added: pending.flatMap(({ added = [] }) => added),
      removed: pending.flatMap(({ removed = [] }) => removed),
      work: [...new Set(pending.flatMap(({ work = [] }) => work))],
      changed: pending.flatMap(({ changed = [] }) => changed),
      cancelled: pending.flatMap(({ cancelled = [] }) => cancelled),
    };
    this.throttle.published(changes.added.length + changes.removed.length + changes.changed.length);
    return chunkMessages(toWire(changes)).map((part) => JSON.stringify({ node: this.node.id, ...part }));
  }

  private receive(payload: string, caughtUp: () => void): void {
    if (payload.startsWith(this.ownStart)) return;
    const message = JSON.parse(payload) as WireMessage;
    this.cluster.markSeen(message.node);
    if (message.missed === true) caughtUp();
    if (message.hello === true || message.missed === true) return;
    this.events.publish(
      {
        added: message.added?.flatMap(fromWire) ?? [],
        removed: message.removed?.flatMap(fromWire) ?? [],
        work: message.work ?? [],
        changed: message.changed ?? [],
        cancelled: message.cancelled ?? [],
      },
      'elsewhere',
    );
  }
}

type WireItem = [kind: keyof Omit<WireMessage, 'node' | 'hello' | 'missed'>, item: unknown];

function toWire({ added, removed, work, changed, cancelled }: QueueChanges): WireItem[] {
  return [
    // Removals first: an entry may have been added again since, and its attempt keeps out one that was not.
    ...groupSeqs(removed ?? []).map((item): WireItem => ['removed', item]),
    ...groupSeqs(added ?? []).map((item): WireItem => ['added', item]),
    ...(work ?? []).map((item): WireItem => ['work', item]),
    ...(changed ?? []).map((item): WireItem => ['changed', item]),
    ...(cancelled ?? []).map((item): WireItem => ['cancelled', item]),
  ];
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

function chunkMessages(items: WireItem[]): Record<string, unknown[]>[] {
  const parts: Record<string, unknown[]>[] = [];
  let part: Record<string, unknown[]> = {};
  let size = 0;
  for (const [kind, item] of items) {
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

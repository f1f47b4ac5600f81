import { Injectable } from '@nestjs/common';
import { NotifyChannel } from '../../database/notify-channel.js';
import { Cluster } from './cluster.js';
import type { LineChange } from '../waiting/waiting-index.js';
import { MessagePace } from './notify-throttle.js';
import { NodeIdentity } from './node-identity.js';
import { QueueEvents, type QueueChanges } from '../queue-events.js';

/** Places that differ in their seq only, which is most of what comes together. */
type WireChanges = [modelId: string, priority: number, attempt: number, ...seqs: number[]];

interface WireMessage {
  /** The sender. */
  node: string;
  /** A node that has just come asks the others to tell it what they do. */
  hello?: true;
  /** The sender's connection was broken: what it changed meanwhile it may not have told. */
  missed?: true;
  entered?: WireChanges[];
  left?: WireChanges[];
  work?: string[];
  changed?: string[];
  cancelled?: string[];
}

/** So that a message stays below the channel's limit whatever its items are. */
const maxMessageCharacters = 7_000;
/** So that places alone stay below it. */
const maxSeqs = 300;

/** Tells the other processes what this one changed, and this one what the others did. */
@Injectable()
export class ClusterMessages {
  private unsubscribe: (() => void) | undefined;
  /** What has changed since the channel last asked. */
  private untold: QueueChanges[] = [];
  private readonly pace = new MessagePace();
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
      apartMs: () => this.pace.apartMs(this.cluster.nodes.length),
    });
    this.unsubscribe = this.events.subscribe((changes, origin) => {
      if (origin === 'here' && this.cluster.hasPeers) this.tell(changes);
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

  private tell(changes: QueueChanges): void {
    this.untold.push(changes);
    this.channel.sendSoon();
  }

  private collect(): string[] {
    const untold = this.untold.splice(0);
    const changes = {
      entered: untold.flatMap(({ entered = [] }) => entered),
      left: untold.flatMap(({ left = [] }) => left),
      work: [...new Set(untold.flatMap(({ work = [] }) => work))],
      changed: untold.flatMap(({ changed = [] }) => changed),
      cancelled: untold.flatMap(({ cancelled = [] }) => cancelled),
    };
    this.pace.told(changes.entered.length + changes.left.length + changes.changed.length);
    return split(toWire(changes)).map((part) => JSON.stringify({ node: this.node.id, ...part }));
  }

  private receive(payload: string, caughtUp: () => void): void {
    if (payload.startsWith(this.ownStart)) return;
    const message = JSON.parse(payload) as WireMessage;
    this.cluster.heard(message.node);
    if (message.missed === true) caughtUp();
    if (message.hello === true || message.missed === true) return;
    this.events.publish(
      {
        entered: message.entered?.flatMap(fromWire) ?? [],
        left: message.left?.flatMap(fromWire) ?? [],
        work: message.work ?? [],
        changed: message.changed ?? [],
        cancelled: message.cancelled ?? [],
      },
      'elsewhere',
    );
  }
}

type WireItem = [kind: keyof Omit<WireMessage, 'node' | 'hello' | 'missed'>, item: unknown];

function toWire({ entered, left, work, changed, cancelled }: QueueChanges): WireItem[] {
  return [
    // First who has left: he may have come back meanwhile, and who has not is kept out by his attempt.
    ...together(left ?? []).map((item): WireItem => ['left', item]),
    ...together(entered ?? []).map((item): WireItem => ['entered', item]),
    ...(work ?? []).map((item): WireItem => ['work', item]),
    ...(changed ?? []).map((item): WireItem => ['changed', item]),
    ...(cancelled ?? []).map((item): WireItem => ['cancelled', item]),
  ];
}

function together(changes: LineChange[]): WireChanges[] {
  const groups: WireChanges[] = [];
  let last: LineChange | undefined;
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

function split(items: WireItem[]): Record<string, unknown[]>[] {
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

function fromWire([modelId, priority, attempt, ...seqs]: WireChanges): LineChange[] {
  return seqs.map((seq) => ({ modelId, priority, seq, attempt }));
}

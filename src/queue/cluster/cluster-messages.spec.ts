import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Database } from '../../database/database.js';
import type { ChannelListener, NotifyChannel } from '../../database/notify-channel.js';
import { ClusterMessages } from './cluster-messages.js';
import { Cluster } from './cluster.js';
import { IndexSync } from '../waiting/duties/index-sync.js';
import { type EntryChange, WaitingIndex } from '../waiting/waiting-index.js';
import { QueueEvents } from '../queue-events.js';

/** Hands over the collected messages when asked. */
class Channel {
  private listener: ChannelListener | undefined;

  start(listener: ChannelListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  requestFlush(): void {}

  collect(): string[] {
    return this.listener!.collect();
  }

  deliver(payload: string): void {
    this.listener!.message(payload);
  }
}

async function startNode(): Promise<{ channel: Channel; events: QueueEvents; index: WaitingIndex }> {
  const cluster = new Cluster();
  cluster.markSeen('another');
  const [channel, events, index] = [new Channel(), new QueueEvents(new EventEmitter2()), new WaitingIndex()];
  await new IndexSync({ query: () => Promise.resolve([]) } as unknown as Database, index, events).refill();
  await new ClusterMessages(channel as unknown as NotifyChannel, cluster, events, index).start();
  return { channel, events, index };
}

const entry = (seq: number, attempt = 0): EntryChange => ({
  modelId: 'a/model',
  priority: 0,
  start: 0,
  seq,
  attempt,
});

it('publishes a request that was removed and added again between two messages as waiting', async () => {
  const [here, there] = [await startNode(), await startNode()];
  const others = Array.from({ length: 2_000 }, (_, i) => entry(i + 10));
  here.events.publish({ added: [entry(1), ...others] });
  here.events.publish({ removed: [entry(1), entry(11)] });
  here.events.publish({ added: [entry(1, 1)] });
  const messages = here.channel.collect();
  expect(messages.length).toBeGreaterThan(1);
  for (const message of messages) there.channel.deliver(message);
  for (const { index } of [here, there]) {
    expect([1, 10, 12].map((seq) => index.position(entry(seq)))).toEqual([0, 1, 2]);
    expect(index.depth('a/model')).toBe(2_000);
  }
});

it('limits every message to the size of a notification', async () => {
  const { channel, events } = await startNode();
  const modelId = `a/${'long'.repeat(15)}`;
  const added = Array.from({ length: 5_000 }, (_, i) => ({ ...entry(2 ** 52 + i), modelId }));
  events.publish({ added });
  expect(Math.max(...channel.collect().map((message) => Buffer.byteLength(message)))).toBeLessThan(7_900);
});

it('handles only messages of other nodes', async () => {
  const [here, there] = [await startNode(), await startNode()];
  here.events.publish({ added: [entry(1)] });
  const origins: string[] = [];
  for (const { events } of [here, there])
    events.subscribe((_, origin) => void (origin === 'elsewhere' && origins.push(origin)));
  const [message] = here.channel.collect();
  here.channel.deliver(message!);
  expect(origins).toEqual([]);
  there.channel.deliver(message!);
  expect(origins).toEqual(['elsewhere']);
});

it('publishes held requests, and requests that are released later', async () => {
  const [here, there] = [await startNode(), await startNode()];
  here.events.publish({ added: [entry(1)], held: [entry(2), entry(3)] });
  here.events.publish({ released: [entry(2)] });
  for (const message of here.channel.collect()) there.channel.deliver(message);
  for (const { index } of [here, there])
    expect([index.depth('a/model'), index.claimable('a/model')]).toEqual([3, 2]);
});

import { EventEmitter2 } from '@nestjs/event-emitter';
import { Config } from '../../config/config.js';
import type { Database } from '../../database/database.js';
import type { ChannelListener, NotifyChannel } from '../../database/notify-channel.js';
import { ClusterMessages } from './cluster-messages.js';
import { Cluster } from './cluster.js';
import { LineKeeper } from '../duties/index-sync.js';
import { type LineChange, Lines } from '../waiting/waiting-index.js';
import { NodeIdentity } from './node-identity.js';
import { QueueEvents } from '../queue-events.js';

/** Passes on what is collected, when told. */
class Channel {
  private listener: ChannelListener | undefined;

  start(listener: ChannelListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  send(): void {}
  sendSoon(): void {}

  collect(): string[] {
    return this.listener!.collect();
  }

  deliver(payload: string): void {
    this.listener!.message(payload);
  }
}

async function startNode(): Promise<{ channel: Channel; events: QueueEvents; lines: Lines }> {
  const self = new NodeIdentity(new Config());
  const cluster = new Cluster(self);
  cluster.heard('another');
  const [channel, events, lines] = [new Channel(), new QueueEvents(new EventEmitter2()), new Lines()];
  await new LineKeeper({ query: () => Promise.resolve([]) } as unknown as Database, lines, events).open();
  await new ClusterMessages(channel as unknown as NotifyChannel, cluster, self, events).start(
    () => undefined,
  );
  return { channel, events, lines };
}

const place = (seq: number, attempt = 0): LineChange => ({ modelId: 'a/model', priority: 0, seq, attempt });

it('tells who has left the line and come back between two messages as waiting', async () => {
  const [here, there] = [await startNode(), await startNode()];
  const others = Array.from({ length: 2_000 }, (_, i) => place(i + 10));
  here.events.publish({ entered: [place(1), ...others] });
  here.events.publish({ left: [place(1), place(11)] });
  here.events.publish({ entered: [place(1, 1)] });
  const messages = here.channel.collect();
  expect(messages.length).toBeGreaterThan(1);
  for (const message of messages) there.channel.deliver(message);
  for (const { lines } of [here, there]) {
    expect([1, 10, 12].map((seq) => lines.position(place(seq)))).toEqual([0, 1, 2]);
    expect(lines.depth('a/model')).toBe(2_000);
  }
});

it('keeps every message below what a notification may carry', async () => {
  const { channel, events } = await startNode();
  const modelId = `a/${'long'.repeat(15)}`;
  const entered = Array.from({ length: 5_000 }, (_, i) => ({ ...place(2 ** 52 + i), modelId }));
  events.publish({ entered });
  expect(Math.max(...channel.collect().map((message) => Buffer.byteLength(message)))).toBeLessThan(7_900);
});

it('hears from others only', async () => {
  const [here, there] = [await startNode(), await startNode()];
  here.events.publish({ entered: [place(1)] });
  const told: string[] = [];
  for (const { events } of [here, there])
    events.subscribe((_, origin) => void (origin === 'elsewhere' && told.push(origin)));
  const [message] = here.channel.collect();
  here.channel.deliver(message!);
  expect(told).toEqual([]);
  there.channel.deliver(message!);
  expect(told).toEqual(['elsewhere']);
});

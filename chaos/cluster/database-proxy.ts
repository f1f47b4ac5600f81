import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  client: Socket;
  server: Socket;
  /** A connection of the notification channel, by the name that it gives itself. */
  isChannel: boolean;
  /** Silent for good: open on both sides, passing nothing. */
  mute: boolean;
}

/** Stands between one node and the database; can go silent, and break connections. */
export class DatabaseProxy {
  private readonly pairs = new Set<Pair>();
  private readonly waiting = new Set<Socket>();
  private readonly listener: Server;
  private hung = false;

  constructor(private readonly target: () => number) {
    this.listener = createServer((client) => this.accept(client));
  }

  async listen(): Promise<number> {
    await new Promise<void>((done, fail) => this.listener.once('error', fail).listen(0, '127.0.0.1', done));
    return (this.listener.address() as AddressInfo).port;
  }

  /** Nothing passes any more, either way, without a sign of it. New connections are accepted and left alone. */
  hang(): void {
    this.hung = true;
    for (const pair of this.pairs) pause(pair);
  }

  /** What was held back goes on, in order, also what a client sent before it was gone. */
  heal(): void {
    this.hung = false;
    for (const pair of this.pairs) if (!pair.mute) resume(pair);
    for (const client of this.waiting) this.connect(client);
    this.waiting.clear();
  }

  /** One connection of the notification channel, drawn from 0 to 1, goes silent for good, if there is one. */
  muteChannel(draw: number): void {
    const channels = [...this.pairs].filter(({ isChannel, mute }) => isChannel && !mute);
    const pair = channels[Math.floor(draw * channels.length)];
    if (pair === undefined) return;
    pair.mute = true;
    pause(pair);
  }

  /** Every connection breaks at once. */
  reset(): void {
    for (const { client, server } of this.pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    for (const client of this.waiting) client.resetAndDestroy();
  }

  private accept(client: Socket): void {
    client.setNoDelay(true);
    client.on('error', () => client.destroy());
    if (!this.hung) return this.connect(client);
    this.waiting.add(client);
    client.once('close', () => this.waiting.delete(client));
  }

  private connect(client: Socket): void {
    const server = connect({ host: '127.0.0.1', port: this.target(), noDelay: true });
    const pair: Pair = { client, server, isChannel: false, mute: false };
    this.pairs.add(pair);
    client.once('data', (chunk) => (pair.isChannel = chunk.includes('nowserving channel')));
    this.pipe(pair, client, server);
    this.pipe(pair, server, client);
    const closed = (): void => {
      this.pairs.delete(pair);
    };
    client.once('close', closed);
    server.once('close', closed);
  }

  private pipe(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!this.hung && !pair.mute) from.resume();
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }
}

function pause({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

function resume({ client, server }: Pair): void {
  client.resume();
  server.resume();
}

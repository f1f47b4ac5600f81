import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  client: Socket;
  server: Socket;
  /** A connection of the notification channel, recognised by its own application name. */
  isChannel: boolean;
  /** Silent for good: open on both sides, but nothing passes. */
  mute: boolean;
  /** When data last passed in either direction. */
  passedAt: number;
}

const idleLookMs = 250;
/** In the mode `cut idle` a connection may be idle for this long, which is shorter than any long poll. */
const idleMs = 3_000;
/** In the mode `502` one of this many answers is replaced. */
const replacedOf = 3;
/** In the mode `slow`, so that a file takes a second. */
const slowBytesPerMs = 300;
const badGateway = 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/** Stands between one process and the servers it calls. It can go silent, break connections and replace answers. */
export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private readonly waiting = new Set<Socket>();
  private readonly listener: Server;
  private mode: 'pass' | 'hang' | 'refuse' | 'slow' | 'cut idle' | '502' = 'pass';
  private answers = 0;

  constructor(private readonly target: () => number) {
    this.listener = createServer((client) => this.accept(client));
    setInterval(() => this.cutIdle(), idleLookMs).unref();
  }

  async listen(): Promise<number> {
    await new Promise<void>((done, fail) => this.listener.once('error', fail).listen(0, '127.0.0.1', done));
    return (this.listener.address() as AddressInfo).port;
  }

  /** Nothing passes in either direction, and no side is notified. New connections are accepted and ignored. */
  hang(): void {
    this.mode = 'hang';
    for (const pair of this.pairs) pause(pair);
  }

  /** Passes the data that was held back, in order, even from a client that has since disconnected. */
  heal(): void {
    this.mode = 'pass';
    for (const pair of this.pairs) if (!pair.mute) resume(pair);
    for (const client of this.waiting) this.connect(client);
    this.waiting.clear();
  }

  /** Breaks every connection at once, and every new one. */
  refuse(): void {
    this.mode = 'refuse';
    this.reset();
  }

  /** Passes data of clients a little at a time. */
  slowDown(): void {
    this.mode = 'slow';
  }

  /** Cuts each connection on which nothing passes for a while, such as those of long polls. */
  beImpatient(): void {
    this.mode = 'cut idle';
  }

  /** Some calls reach the server, but are answered with 502. */
  replaceAnswers(): void {
    this.mode = '502';
  }

  /**
   * One connection of the notification channel, selected by `draw` from 0 to 1, goes silent for good, if there is one.
   */
  muteChannel(draw: number): void {
    const channels = [...this.pairs].filter(({ isChannel, mute }) => isChannel && !mute);
    const pair = channels[Math.floor(draw * channels.length)];
    if (pair === undefined) return;
    pair.mute = true;
    pause(pair);
  }

  /** Breaks every connection at once. */
  reset(): void {
    for (const { client, server } of this.pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    for (const client of this.waiting) client.resetAndDestroy();
  }

  /** Breaks every connection and resolves once all are closed. */
  async close(): Promise<void> {
    this.refuse();
    const open = [...this.pairs].flatMap(({ client, server }) => [client, server]);
    const closed = [...open, ...this.waiting].filter(({ closed: isClosed }) => !isClosed);
    const ends = closed.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await Promise.all([...ends, new Promise((resolve) => this.listener.close(resolve))]);
  }

  private accept(client: Socket): void {
    client.setNoDelay(true);
    client.on('error', () => client.destroy());
    if (this.mode === 'refuse') return void client.resetAndDestroy();
    if (this.mode !== 'hang') return this.connect(client);
    this.waiting.add(client);
    client.once('close', () => this.waiting.delete(client));
  }

  private connect(client: Socket): void {
    const server = connect({ host: '127.0.0.1', port: this.target(), noDelay: true });
    const pair: Pair = { client, server, isChannel: false, mute: false, passedAt: performance.now() };
    this.pairs.add(pair);
    client.once('data', (chunk) => (pair.isChannel = chunk.includes('nowserving channel')));
    this.pipe(pair, client, server);
    this.pipe(pair, server, client);
    // One side may stay open a little longer than the other, to end its writes. `close` must find it.
    const closed = (): void => {
      if (client.closed && server.closed) this.pairs.delete(pair);
    };
    client.once('close', closed);
    server.once('close', closed);
  }

  private pipe(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      pair.passedAt = performance.now();
      if (from === pair.server && this.replaces(chunk)) {
        from.destroy();
        to.end(badGateway);
        return;
      }
      if (!to.write(chunk)) from.pause();
      if (this.mode === 'slow' && from === pair.client) {
        from.pause();
        setTimeout(() => this.resume(pair, from), chunk.length / slowBytesPerMs);
      }
    });
    to.on('drain', () => this.resume(pair, from));
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }

  private resume({ mute }: Pair, socket: Socket): void {
    if (this.mode !== 'hang' && !mute) socket.resume();
  }

  private replaces(chunk: Buffer): boolean {
    if (this.mode !== '502' || !chunk.subarray(0, 7).equals(Buffer.from('HTTP/1.'))) return false;
    return this.answers++ % replacedOf === 0;
  }

  private cutIdle(): void {
    if (this.mode !== 'cut idle') return;
    for (const { client, server, passedAt } of this.pairs) {
      if (performance.now() - passedAt < idleMs) continue;
      client.destroy();
      server.destroy();
    }
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

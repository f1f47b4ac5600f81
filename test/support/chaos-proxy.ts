import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from './seeded.js';

/** Probabilities, from 0 to 1, of faults of a connection or a chunk. */
export interface Faults {
  /** The connection is reset before anything is passed on. */
  refused: number;
  /** The connection is accepted, then silent until it is reset. */
  silent: number;
  /** Every other connection breaks after fewer than this many bytes, of the request or of the answer. */
  cutBytes: number;
  /** Connections that break by the bytes of the answer. Default: 0.7. */
  ofAnswer?: number;
  /** Chunks that are delayed, by up to `delayMs`. */
  delayed: number;
  delayMs: number;
}

const someFaults: Faults = {
  refused: 0.05,
  silent: 0.02,
  cutBytes: 10_000,
  delayed: 0.2,
  delayMs: 30,
};

/** Stands between clients and a service on 127.0.0.1, and causes network faults. */
export class ChaosProxy {
  readonly counts = { connections: 0, refused: 0, silent: 0, cut: 0 };
  private readonly random: () => number;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.accept(client));

  constructor(
    private readonly target: string,
    seed: number,
    private readonly faults: Faults = someFaults,
  ) {
    this.random = seeded(seed);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    this.counts.connections++;
    this.track(client);
    const { refused, silent, cutBytes, ofAnswer = 0.7 } = this.faults;
    if (this.happens(refused)) {
      this.counts.refused++;
      client.resetAndDestroy();
    } else if (this.happens(silent)) {
      this.counts.silent++;
      client.resume();
      setTimeout(() => client.resetAndDestroy(), 1_000);
    } else {
      const server = this.track(connect({ host: '127.0.0.1', port: Number(new URL(this.target).port) }));
      const [bytes, isOfAnswer] = [Math.floor(this.random() * cutBytes), this.happens(ofAnswer)];
      this.pipe(client, server, isOfAnswer ? Infinity : bytes);
      this.pipe(server, client, isOfAnswer ? bytes : Infinity);
    }
  }

  private pipe(from: Socket, to: Socket, maxBytes: number): void {
    let left = maxBytes;
    let passed = Promise.resolve();
    const inOrder = (work: () => void): void => {
      const ms = this.happens(this.faults.delayed) ? this.random() * this.faults.delayMs : 0;
      const before = passed;
      passed = (async () => {
        await before;
        if (ms > 0) await delay(ms);
        work();
      })();
    };
    from.on('data', (chunk) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      inOrder(() => {
        if (!to.destroyed) to.write(part);
      });
      if (left > 0) return;
      this.counts.cut++;
      from.pause();
      // The bytes passed on still arrive, like half of an answer.
      inOrder(() => [from, to].forEach((socket) => socket.destroySoon()));
    });
    from.on('end', () => inOrder(() => to.end()));
    from.on('close', () => inOrder(() => to.destroySoon()));
  }

  private track(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.sockets.delete(socket));
    return socket;
  }

  private happens(probability: number): boolean {
    return this.random() < probability;
  }
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a service and its database. It passes everything on, breaks every connection, or goes silent. */
export class DatabaseGate {
  private readonly sockets = new Set<Socket>();
  private state: 'open' | 'closed' | 'hanging' = 'open';
  private readonly server = createServer((client) => this.accept(client));

  /** `target` can change, because a restarted server may have another port. */
  private constructor(public target: URL) {}

  /** `databaseUrl`: a PostgreSQL that listens on TCP. */
  static async before(databaseUrl: string): Promise<DatabaseGate> {
    const gate = new DatabaseGate(new URL(databaseUrl));
    await new Promise<void>((resolve) => gate.server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  /** The URL of the database through the gate. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  open(): void {
    this.state = 'open';
    for (const socket of this.sockets) socket.resume();
  }

  /** Behaves like a stopped database. */
  close(): void {
    this.state = 'closed';
    for (const socket of this.sockets) socket.destroy();
  }

  /** Behaves like a frozen database: connections stay open, but nothing is answered. */
  hang(): void {
    this.state = 'hanging';
    for (const socket of this.sockets) socket.pause();
  }

  async stop(): Promise<void> {
    this.close();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    if (this.state === 'closed') {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: this.target.hostname, port: Number(this.target.port) });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => void to.write(chunk));
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      if (this.state === 'hanging') from.pause();
    }
  }
}

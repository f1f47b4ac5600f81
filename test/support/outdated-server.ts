import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Implements as much of PostgreSQL's protocol as a client needs to log in and query the version. */
export class OutdatedServer {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => this.serve(socket));

  constructor(
    private readonly version: string,
    private readonly versionNumber: number,
  ) {}

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `postgresql://someone:secret@127.0.0.1:${(this.server.address() as AddressInfo).port}/queue`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const ready = message('Z', Buffer.from('I'));
      socket.write(Buffer.concat([message('R', int(4, 0)), ready]));
      socket.on('data', (asked) => {
        if (asked.toString('latin1').startsWith('Q')) socket.write(Buffer.concat([this.answer(), ready]));
        else socket.end();
      });
    });
  }

  /** Sends one row: the version as a number and as text. */
  private answer(): Buffer {
    const columns = [
      { name: 'version', type: 23, value: String(this.versionNumber) },
      { name: 'text', type: 25, value: this.version },
    ];
    const fields = columns.map(({ name, type }) =>
      Buffer.concat([
        Buffer.from(`${name}\0`),
        int(4, 0),
        int(2, 0),
        int(4, type),
        int(2, -1),
        int(4, -1),
        int(2, 0),
      ]),
    );
    const row = columns.map(({ value }) => Buffer.concat([int(4, value.length), Buffer.from(value)]));
    const count = int(2, columns.length);
    const done = message('C', Buffer.from('SELECT 1\0'));
    return Buffer.concat([message('T', count, ...fields), message('D', count, ...row), done]);
  }
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int(4, body.length + 4), body]);
}

function int(bytes: number, value: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
}

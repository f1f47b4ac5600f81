import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * The exact bytes to send, or a function of a request's head in lower case. Until it resolves, nothing more of the
 * request is read.
 */
export type Said = Buffer | ((head: string) => Buffer | Promise<Buffer>);

/** Returns an answer with the length of its body, or with a false one. */
export function said(
  body: Uint8Array | string,
  { status = '200 OK', length = Buffer.byteLength(body), ...fields }: Record<string, string | number> = {},
): Buffer {
  return Buffer.concat([head(status, { 'Content-Length': length, ...fields }), Buffer.from(body)]);
}

/** `end` is what follows the only chunk. */
export function chunked(body: Uint8Array | string, end = '0\r\n\r\n', connection = 'keep-alive'): Buffer {
  const fields = { 'Transfer-Encoding': 'chunked', Connection: connection };
  const size = Buffer.from(`${Buffer.byteLength(body).toString(16)}\r\n`);
  return Buffer.concat([head('200 OK', fields), size, Buffer.from(body), Buffer.from(`\r\n${end}`)]);
}

/** Returns an answer whose body ends with the connection. */
export const unframed = (body: Uint8Array | string, fields: Record<string, string> = {}): Buffer =>
  Buffer.concat([head('200 OK', fields), Buffer.from(body)]);

function head(status: string | number, fields: Record<string, string | number>): Buffer {
  const lines = Object.entries({ Connection: 'close', ...fields }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n`);
}

/** Sends the answers of a test, one per connection. The last one is repeated. */
export class ScriptedServer {
  readonly heads: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => {
    this.sockets.add(socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket)));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      const hadHead = text.includes('\r\n\r\n');
      text += chunk.toString('latin1');
      if (hadHead || !text.includes('\r\n\r\n')) return;
      const asked = text.split('\r\n\r\n')[0]!.toLowerCase();
      this.heads.push(asked);
      void this.answer(socket, asked);
    });
  });

  private constructor(private readonly answers: Said[]) {}

  static async saying(...answers: Said[]): Promise<ScriptedServer> {
    const scripted = new ScriptedServer(answers);
    await new Promise<void>((resolve) => scripted.server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(socket: Socket, head: string): Promise<void> {
    const answer = this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!;
    socket.pause();
    const bytes = typeof answer === 'function' ? await answer(head) : answer;
    socket.resume();
    socket.end(bytes);
  }
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seeded } from './seeded.js';

export interface GatewayFaults {
  /** Probability, from 0 to 1, that a call is answered 502 and never passed on. */
  refused: number;
  /** Probability that a call is passed on, but its answer is replaced by a 502. */
  lost: number;
  /** A connection that is silent for this long is cut. */
  idleMs: number;
}

/** A gateway before a service. It buffers calls and answers, sometimes answers 502, and cuts idle connections. */
export class Gateway {
  readonly counts = { calls: 0, refused: 0, lost: 0, cut: 0 };
  private readonly random: () => number;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.pass(request, Buffer.concat(chunks), response).catch(() => response.destroy());
    });
  });

  constructor(
    private readonly target: string,
    seed: number,
    private readonly faults: GatewayFaults = { refused: 0.05, lost: 0.05, idleMs: 4_000 },
  ) {
    this.random = seeded(seed);
    this.server.keepAliveTimeout = faults.idleMs;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private async pass(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    this.counts.calls++;
    if (this.happens('refused')) return badGateway(response);
    const abort = new AbortController();
    const cut = setTimeout(() => {
      this.counts.cut++;
      response.destroy();
    }, this.faults.idleMs);
    response.on('close', () => abort.abort());
    try {
      const { method = 'GET', url = '/' } = request;
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
      const answer = await fetch(this.target + url, {
        method,
        headers: headers as Record<string, string>,
        body: method === 'GET' || body.length === 0 ? null : body,
        signal: abort.signal,
      });
      const text = Buffer.from(await answer.arrayBuffer());
      if (this.happens('lost')) return badGateway(response);
      const {
        connection: _,
        'keep-alive': _k,
        'transfer-encoding': _t,
        ...fields
      } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, fields).end(text);
    } finally {
      clearTimeout(cut);
    }
  }

  private happens(fault: 'refused' | 'lost'): boolean {
    const happens = this.random() < this.faults[fault];
    if (happens) this.counts[fault]++;
    return happens;
  }
}

function badGateway(response: ServerResponse): void {
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
}

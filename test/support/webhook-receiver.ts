import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.js';

export interface Hook {
  url: string;
  headers: IncomingHttpHeaders & { 'webhook-id': string };
  body: string;
  response: ServerResponse;
}

/** Receives webhooks on 127.0.0.1. Answers 204 unless the test wants another answer. */
export class WebhookReceiver {
  readonly hooks: Hook[] = [];
  answer: (hook: Hook) => void = ({ response }) => void response.writeHead(204).end();
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Hook['headers'];
      const hook = { url: request.url!, headers, body: Buffer.concat(chunks).toString(), response };
      response.on('error', () => undefined);
      this.hooks.push(hook);
      this.answer(hook);
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Returns the webhooks received at a path so far. */
  at(path: string): Hook[] {
    return this.hooks.filter(({ url }) => url === path);
  }

  /** Returns the webhooks at a path when `count` have arrived. */
  arrived(path: string, count = 1): Promise<Hook[]> {
    return until(() => this.at(path).length >= count && this.at(path), {
      message: `${count} webhooks arrive at ${path}`,
      explain: () => this.hooks.map(({ url }) => url),
    });
  }
}

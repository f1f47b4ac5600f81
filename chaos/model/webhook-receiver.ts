import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { now, sleep } from '../clock.js';
import type { Random } from '../random.js';

/** The fields of a webhook's body that the harness compares. */
export interface WebhookBody {
  request_id: string;
  status: 'OK' | 'ERROR';
  payload: unknown;
  error: { code: string } | null;
}

/** One call of a receiver. */
export interface WebhookCall {
  readonly webhookId: string;
  readonly body: WebhookBody;
  readonly at: number;
}

/** Behaviours of receivers. Receivers that recover do so from the second call of a delivery on. */
const kinds = ['good', 'good', 'good', 'late', 'broken', 'reset', 'hanging'] as const;
/** A receiver that is away for an hour refuses this many calls of a delivery: the fifth comes 36 minutes after the first. */
const refusedByAway = 4;
const lateMs = { low: 200, high: 3_000 };

/** Receivers of webhooks: good, slow, broken or hanging, as the path says. Every call is recorded. */
export class WebhookReceiver {
  readonly calls: WebhookCall[] = [];
  /** True: some receivers are away for longer than one retry. */
  hasAway = false;
  private readonly times = new Map<string, number>();
  private readonly server = createServer((request, response) => {
    void this.serve(request, response).catch(() => response.destroy());
  });

  constructor(private readonly random: Random) {}

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** The URL of a receiver of any kind. */
  anyUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${this.kind()}`;
  }

  private kind(): string {
    return this.hasAway && this.random.chance(0.15) ? 'away' : this.random.pick(kinds);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const webhookId = String(request.headers['webhook-id']);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as WebhookBody;
    this.calls.push({ webhookId, body, at: now() });
    const times = (this.times.get(webhookId) ?? 0) + 1;
    this.times.set(webhookId, times);
    const kind = request.url!.slice(1);
    if (kind === 'late') await sleep(this.random.between(lateMs.low, lateMs.high));
    if (kind === 'away' && times <= refusedByAway) response.statusCode = 503;
    if (times === 1) {
      if (kind === 'hanging') return;
      if (kind === 'reset') return void request.socket.resetAndDestroy();
      if (kind === 'broken') response.statusCode = 500;
    }
    response.end();
  }
}

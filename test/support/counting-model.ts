import type { ServerResponse } from 'node:http';
import { type Call, ModelServer } from './model-server.js';

export interface Arrival {
  id: string;
  attempt: number;
  input: unknown;
}

/** A model on 127.0.0.1 that records which requests came, in which order, and how many at once. */
export class CountingModel {
  readonly arrivals: Arrival[] = [];
  maxAtOnce = 0;
  /** How long a call takes while calls are not held. */
  takesMs = 0;
  /** The status that a call is answered with; 200 if it says nothing. */
  refuse: (arrival: Arrival) => number | undefined = () => undefined;
  private readonly open = new Set<ServerResponse>();
  private readonly held = new Map<ServerResponse, Call>();
  private holding = false;
  private readonly server = new ModelServer();

  async start(): Promise<this> {
    await this.server.start();
    this.server.answer = (call) => this.receive(call);
    return this;
  }

  /** Calls that are being worked on now. */
  get running(): number {
    return this.open.size;
  }

  /** How often a request came. */
  times(id: string): number {
    return this.arrivals.filter((arrival) => arrival.id === id).length;
  }

  /** From now on calls get no answer until `release`. */
  hold(): this {
    this.holding = true;
    return this;
  }

  release(): void {
    this.holding = false;
    for (const call of this.held.values()) this.finish(call);
    this.held.clear();
  }

  /** Answers one held call and keeps the others waiting; which attempt, if there may be several. */
  releaseOne(id: string, attempt?: number): void {
    for (const call of this.held.values()) {
      if (call.headers['x-request-id'] !== id) continue;
      if (attempt !== undefined && Number(call.headers['x-attempt']) !== attempt) continue;
      this.held.delete(call.response);
      this.finish(call);
    }
  }

  /** A models.yaml entry that is run here. */
  entry(id: string, settings: Record<string, string | number> = {}): string {
    const all = { concurrency: 4, timeout: '60s', attempts: 3, ...settings };
    const lines = Object.entries(all).map(([name, value]) => `    ${name}: ${value}`);
    return [`  - id: ${id}`, `    runner: { kind: http, url: '${this.server.url}' }`, ...lines].join('\n');
  }

  /** A models.yaml with this model alone. */
  models(id: string, settings?: Record<string, string | number>): string {
    return `models:\n${this.entry(id, settings)}\n`;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private receive(call: Call): void {
    const { response, headers } = call;
    this.open.add(response);
    this.maxAtOnce = Math.max(this.maxAtOnce, this.open.size);
    response.on('close', () => {
      this.open.delete(response);
      this.held.delete(response);
    });
    const arrival = {
      id: String(headers['x-request-id']),
      attempt: Number(headers['x-attempt']),
      input: JSON.parse(call.body) as unknown,
    };
    this.arrivals.push(arrival);
    const status = this.refuse(arrival);
    if (status !== undefined) response.writeHead(status).end();
    else if (this.holding) this.held.set(response, call);
    else if (this.takesMs > 0) setTimeout(() => this.finish(call), this.takesMs);
    else this.finish(call);
  }

  private finish({ response, headers }: Call): void {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ done: headers['x-request-id'], attempt: Number(headers['x-attempt']) }));
  }
}

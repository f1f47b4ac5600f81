import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { until } from './until.js';

export interface Call {
  /** The id of the request. The service sends it and `attempt` as header fields. */
  id: string;
  attempt: number;
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  bytes: Buffer;
  response: ServerResponse;
  socket: Socket;
  /** True if the client has dropped the connection. */
  closed: boolean;
}

/** What the model does with a request. It is the input of the submission. */
export interface Script {
  /** There is no answer until `answer` gives one. */
  hold?: boolean;
  /** Default: 200. */
  status?: number;
  /** Default: `application/json`. */
  type?: string;
  headers?: Record<string, string>;
  /** Default: the request's id and attempt, as JSON. */
  body?: string;
  /** The connection is broken before the answer. */
  drop?: boolean;
  /** One script per call of the request. The last one also applies to all further calls. */
  attempts?: Script[];
}

/** A model on 127.0.0.1. It does what the input of each request or the test tells it, and counts calls. */
export class ModelServer {
  readonly calls: Call[] = [];
  maxAtOnce = 0;
  /** Milliseconds that a call takes while calls are not held. */
  takesMs = 0;
  private readonly open = new Set<Call>();
  private isHolding = false;
  private port = 0;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const bytes = Buffer.concat(chunks);
      const body = bytes.toString();
      const [id, attempt] = [String(headers['x-request-id']), Number(headers['x-attempt'])];
      const call = { id, attempt, method, url, headers, body, bytes, response, socket, closed: false };
      response.on('error', () => undefined);
      response.on('close', () => this.open.delete(call));
      socket.on('close', () => (call.closed = true));
      this.calls.push(call);
      this.open.add(call);
      this.maxAtOnce = Math.max(this.maxAtOnce, this.running);
      this.respond(call);
    });
  });

  respond: (call: Call) => void = (call) => this.play(call);

  /** Listens again at its old port after a stop. */
  async start(): Promise<this> {
    this.promise(0);
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    ({ port: this.port } = this.server.address() as AddressInfo);
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/predict`;
  }

  /**
   * Returns the text of a models.yaml with these models and settings, all served here. A runner without a kind is an
   * http runner with a `path` on this server. A model of a group has the group's concurrency.
   */
  file(models: Record<string, object>, groups?: Record<string, object>): string {
    const defaults = { runner: { kind: 'http', url: this.url }, concurrency: 4, timeout: '60s', attempts: 1 };
    const entries = Object.entries(models).map(([id, settings]) => {
      const { runner = {}, group } = settings as {
        runner?: { kind?: string; path?: string };
        group?: string;
      };
      const { kind, path, ...options } = runner;
      const here = path !== undefined && {
        runner: { kind: 'http', url: new URL(path, this.url).href, ...options },
      };
      const shared = group !== undefined && { concurrency: undefined };
      return { id, ...defaults, ...shared, ...settings, ...(kind === undefined && here) };
    });
    return JSON.stringify({ groups, models: entries });
  }

  /** Promises to keep idle connections for this many seconds. 0: promises nothing. */
  promise(seconds: number): void {
    this.server.keepAliveTimeout = seconds * 1_000;
  }

  /** The number of open connections. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  /** The number of calls in progress. */
  get running(): number {
    return this.open.size;
  }

  /** How often a request arrived. */
  times(id: string): number {
    return this.calls.filter((call) => call.id === id).length;
  }

  /** Returns the call for an attempt of a request, when it has arrived. */
  arrived(id: string, attempt = 1): Promise<Call> {
    return until(() => this.calls.find((call) => call.id === id && call.attempt === attempt), {
      message: `attempt ${attempt} of ${id} reaches the model`,
    });
  }

  /** Holds all calls until `release`. */
  hold(): this {
    this.isHolding = true;
    return this;
  }

  release(): void {
    this.isHolding = false;
    for (const call of this.open) this.end(call);
  }

  /** Answers a held call. */
  async answer(id: string, body?: string, attempt?: number): Promise<void> {
    this.end(await this.arrived(id, attempt), { body });
  }

  /** Writes lines of an NDJSON answer without ending it. */
  async say(id: string, lines: object[], attempt?: number): Promise<void> {
    const { response } = await this.arrived(id, attempt);
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(ndjson(lines));
  }

  private play(call: Call): void {
    const whole = JSON.parse(call.body) as Script;
    const attempts = whole.attempts ?? [whole];
    const script = attempts[Math.min(this.times(call.id), attempts.length) - 1]!;
    if (script.drop === true) call.socket.destroy();
    else if (script.hold === true || this.isHolding) return;
    else if (this.takesMs > 0) setTimeout(() => this.end(call, script), this.takesMs);
    else this.end(call, script);
  }

  private end({ id, attempt, response }: Call, { status = 200, type, headers, body }: Script = {}): void {
    const contentType = type ?? 'application/json';
    if (!response.headersSent) response.writeHead(status, { 'content-type': contentType, ...headers });
    response.end(body ?? JSON.stringify({ done: id, attempt }));
  }
}

export function ndjson(lines: object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WorkerCall {
  /** The route, such as `claims` or `output`. */
  route: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A text body is JSON already. */
type Body = object | string;
type Answer =
  readonly [status: number, body?: Body, headers?: Record<string, string>] | 'drop' | 'hold' | undefined;

/** The worker protocol without a queue. Hands out the runs that a test offers, and answers as the test wants. */
export class WorkerProtocol {
  readonly calls: WorkerCall[] = [];
  /** The next answers of a route, before the usual ones. */
  readonly next: Partial<Record<string, Answer[]>> = {};
  beat: object = {};
  private offers: object[] = [];
  private readonly held = new Map<ServerResponse, string>();
  private events = 0;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', headers } = request;
      const route = /^\/v1\/worker\/(?:runs\/[^/]+\/)?(\w+)/.exec(url)?.[1] ?? url;
      const call = { route, url, headers, body: Buffer.concat(chunks).toString() };
      this.calls.push(call);
      response.on('close', () => this.held.delete(response));
      const answer = this.next[route]?.shift() ?? this.usual(call, response);
      if (answer === 'drop') request.socket.destroy();
      else if (answer === 'hold') this.held.set(response, route);
      else if (typeof answer === 'object') send(response, ...answer);
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

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Adds a run for the next claim. */
  offer(run: object = {}): void {
    const id = this.offers.length + this.of('claims').length;
    const lease = { request_id: `request-${id}`, lease_token: `token-${id}`, lease_s: 10, attempt: 1 };
    this.events = 0;
    this.offers.push({ ...lease, model_id: 'me/x', input: {}, ...run });
    this.answerHeld('claims', [200, { runs: this.offers.splice(0) }]);
  }

  /** Sends this answer to the held beat and to the following ones. */
  tell(beat: object): void {
    this.beat = beat;
    this.answerHeld('beats', this.beatAnswer());
  }

  of(route: string): WorkerCall[] {
    return this.calls.filter((call) => call.route === route);
  }

  private usual({ route, url, body, headers }: WorkerCall, response: ServerResponse): Answer {
    if (route === 'claims' && this.offers.length > 0) return [200, { runs: this.offers.splice(0) }];
    const isHeld = headers.prefer !== 'wait=0' && Object.keys(this.beat).length === 0;
    if (route === 'beats' && !isHeld) return this.beatAnswer();
    if (route === 'claims' || route === 'beats') return void this.held.set(response, route);
    if (route === 'events') {
      const from = Number(new URL(url, this.url).searchParams.get('from'));
      this.events = Math.max(this.events, from + body.trimEnd().split('\n').length);
      return [202, { next: this.events, cancel: false }];
    }
    return route === 'release' || route === 'workers' ? [204] : [200, {}];
  }

  private beatAnswer(): Answer {
    return [200, { lease_s: 30, beat_s: 10, worker: 'run', cancel: [], lost: [], ...this.beat }];
  }

  answerHeld(route: string, answer: Answer): void {
    for (const [response, of] of this.held) {
      if (of !== route || typeof answer !== 'object') continue;
      this.offers = route === 'claims' ? [] : this.offers;
      send(response, ...answer);
      return;
    }
    if (route === 'claims' && typeof answer === 'object')
      this.offers = (answer[1] as { runs: object[] }).runs;
  }
}

export const problem = (status: number, code: string, headers?: Record<string, string>): Answer => [
  status,
  { code, detail: `It is ${code}.` },
  headers,
];

function send(response: ServerResponse, status: number, body?: Body, headers?: Record<string, string>): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'object' ? JSON.stringify(body) : body);
}

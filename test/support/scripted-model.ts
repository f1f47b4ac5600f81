import { type Call, ModelServer } from './model-server.js';
import { until } from './index.js';

/** What the model does with a request; it is the input that the request was submitted with. */
export interface Script {
  /** No answer before `answer` gives one. */
  hold?: boolean;
  /** 200 if left out. */
  status?: number;
  /** `application/json` if left out. */
  type?: string;
  headers?: Record<string, string>;
  /** `{}` if left out. */
  body?: string;
  /** The connection is broken before the answer. */
  drop?: boolean;
  /** One script for each attempt; the last one also for all that follow. */
  attempts?: Script[];
}

/** A model on 127.0.0.1 that does what the input of each request says. */
export class ScriptedModel {
  maxAtOnce = 0;
  private running = 0;
  private readonly server = new ModelServer();

  async start(): Promise<this> {
    await this.server.start();
    this.server.answer = (call) => this.play(call);
    return this;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** A models.yaml entry that is run here. */
  entry(id: string, settings: Record<string, string | number> = {}): string {
    const all = { concurrency: 4, timeout: '30s', attempts: 1, ...settings };
    const lines = Object.entries(all).map(([name, value]) => `    ${name}: ${value}\n`);
    return `  - id: ${id}\n    runner: { kind: http, url: '${this.server.url}' }\n${lines.join('')}`;
  }

  /** How often a request came. */
  times(id: string): number {
    return this.callsOf(id).length;
  }

  /** The call for an attempt of a request, once it has come. */
  arrived(id: string, attempt = 1): Promise<Call> {
    return until(() => this.callsOf(id).find(({ headers }) => headers['x-attempt'] === String(attempt)), {
      message: `attempt ${attempt} of ${id} reaches the model`,
    });
  }

  /** Ends a call that is held. */
  async answer(id: string, body = '{}', attempt = 1): Promise<void> {
    const { response } = await this.arrived(id, attempt);
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body);
  }

  /** Writes lines of an NDJSON answer that goes on. */
  async say(id: string, lines: object[], attempt = 1): Promise<void> {
    const { response } = await this.arrived(id, attempt);
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  private callsOf(id: string): Call[] {
    return this.server.calls.filter(({ headers }) => headers['x-request-id'] === id);
  }

  private play({ response, body, headers, socket }: Call): void {
    this.maxAtOnce = Math.max(this.maxAtOnce, ++this.running);
    response.on('close', () => this.running--);
    const whole = JSON.parse(body) as Script;
    const attempts = whole.attempts ?? [whole];
    const script = attempts[Math.min(Number(headers['x-attempt']), attempts.length) - 1]!;
    if (script.drop === true) socket.destroy();
    else if (script.hold !== true) {
      const type = script.type ?? 'application/json';
      response.writeHead(script.status ?? 200, { 'content-type': type, ...script.headers });
      response.end(script.body ?? '{}');
    }
  }
}

/** The text of a models.yaml. */
export function modelsFile(...entries: string[]): string {
  return `models:\n${entries.join('\n')}`;
}

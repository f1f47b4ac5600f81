import {
  type Handler,
  type Run,
  serve,
  type ServeOptions,
} from '../../clients/typescript/src/worker/index.js';
import { until } from './until.js';
import { type WorkerCall, WorkerProtocol } from './worker-protocol.js';

/** Workers of the TypeScript library, run against the worker protocol without a queue. */
export class ProtocolWorkers {
  service!: WorkerProtocol;
  /** The lines that they log. */
  readonly lines: string[] = [];
  private readonly started: AbortController[] = [];
  private readonly working: Promise<unknown>[] = [];

  async start(): Promise<WorkerProtocol> {
    this.lines.splice(0);
    return (this.service = await new WorkerProtocol().start());
  }

  async stop(): Promise<void> {
    for (const worker of this.started.splice(0)) worker.abort();
    await Promise.all(this.working.splice(0));
    await this.service.stop();
  }

  /** Starts a worker of the model `me/x`, or of several models. */
  readonly work = (handler: Handler | Record<string, Handler>, options: ServeOptions = {}) => {
    const drain = new AbortController();
    this.started.push(drain);
    const say = (line: string): void => void this.lines.push(line);
    const handlers = typeof handler === 'function' ? { 'me/x': handler } : handler;
    const over = serve(handlers, {
      url: this.service.url,
      key: 'ns_k',
      signal: drain.signal,
      say,
      ...options,
    });
    this.working.push(over.catch(() => undefined));
    return { drain: () => drain.abort(), over };
  };

  readonly callTo = (route: string, count = 1): Promise<WorkerCall> =>
    until(() => this.service.of(route)[count - 1], { message: `${count} calls of ${route}` });
}

export const bodyOf = ({ body }: WorkerCall): Record<string, unknown> =>
  JSON.parse(body) as Record<string, unknown>;

export const untilAborted = ({ signal }: Run): Promise<never> =>
  new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason as Error)));

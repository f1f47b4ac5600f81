import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Model } from '../../src/models/model.js';
import type { LogLevel, Run } from '../../src/queue/runs/runner.js';

export interface Call {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  response: ServerResponse;
  socket: Socket;
  /** Whether the client has dropped the connection. */
  closed: boolean;
}

/** A model server on 127.0.0.1 that does what each test says. */
export class ModelServer {
  readonly calls: Call[] = [];
  answer: (call: Call) => void = ({ response }) => response.end();
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const call = {
        method,
        url,
        headers,
        body: Buffer.concat(chunks).toString(),
        response,
        socket,
        closed: false,
      };
      response.on('error', () => undefined);
      socket.on('close', () => (call.closed = true));
      this.calls.push(call);
      this.answer(call);
    });
  });

  async start(): Promise<this> {
    this.promise(0);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/predict`;
  }

  /** For so many seconds it says that it keeps idle connections; 0: it says nothing. */
  promise(seconds: number): void {
    this.server.keepAliveTimeout = seconds * 1_000;
  }

  /** Open connections. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export interface TestRun extends Run {
  lines: { level: LogLevel; message: string }[];
  abort(reason: string): void;
}

function testModel(runner: object): Model {
  return {
    id: 'test/model',
    description: '',
    runner: runner as Model['runner'],
    concurrency: 1,
    timeoutMs: 60_000,
    expiresMs: null,
    attempts: 3,
    retentionMs: null,
    retentionPayloadMs: null,
    inputSchema: null,
    validate: () => [],
  };
}

export function testRun(runner: object, input = '{"prompt":"a cat"}', attempt = 1): TestRun {
  const controller = new AbortController();
  const lines: TestRun['lines'] = [];
  return {
    requestId: '01890000-0000-7000-8000-000000000001',
    model: testModel(runner),
    attempt,
    input,
    signal: controller.signal,
    log: (level, message) => lines.push({ level, message }),
    lines,
    abort: (reason) => controller.abort(reason),
  };
}

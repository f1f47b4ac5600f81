import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { now, sleep } from '../clock.js';
import type { ChaosInput, Step } from './behaviour.js';
import { deltaOf, fileBytes, sha256 } from './made.js';
import { FollowedJobs, followedModel } from './followed-jobs.js';
import { type ModelRun, RunLog } from './run-log.js';

/** The models. They are slow, broken or hanging as each request asks, and every call is recorded. */
export class ModelServer {
  readonly runs = new RunLog();
  readonly followed = new FollowedJobs();
  /** The ends of held runs, each with its model. */
  private readonly held = new Map<() => void, string>();
  /** The answers of the runs in progress. */
  private readonly open = new Map<ModelRun, ServerResponse>();
  private port = 0;
  private isUnavailable = false;
  private readonly server = createServer((request, response) => {
    void this.serve(request, response).catch(() => response.destroy());
  });

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(this.port, '127.0.0.1', done));
    ({ port: this.port } = this.server.address() as AddressInfo);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Refuses connections, or answers 503, until the time is over. Runs under way go on. */
  async beAway(how: 'refusing' | '503', ms: number): Promise<void> {
    if (how === '503') {
      this.isUnavailable = true;
      await sleep(ms);
      this.isUnavailable = false;
      return;
    }
    this.server.close();
    this.server.closeIdleConnections();
    await sleep(ms);
    await this.start();
  }

  /** Ends the runs that are held, of one model or of all; later ones are held again. */
  release(only?: string): void {
    for (const [end, modelId] of this.held) {
      if (only !== undefined && modelId !== only) continue;
      this.held.delete(end);
      end();
    }
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isUnavailable) {
      request.resume();
      response.writeHead(503).end();
      return;
    }
    if (request.url!.startsWith(`/${followedModel}/`)) return this.followed.serve(request, response);
    const chunks: Buffer[] = [];
    const run = this.runs.start({
      requestId: String(request.headers['x-request-id']),
      attempt: Number(request.headers['x-attempt']),
      modelId: request.url!.slice(1),
      node: String(request.headers['x-node']),
    });
    this.open.set(run, response);
    response.once('close', () => {
      this.open.delete(run);
      over(run);
    });
    response.once('finish', () => {
      run.answered = true;
      over(run);
    });
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { plan } = JSON.parse(Buffer.concat(chunks).toString()) as ChaosInput;
    await this.take(plan![Math.min(run.attempt, plan!.length) - 1]!, run, response);
  }

  private async take(step: Step, run: ModelRun, response: ServerResponse): Promise<void> {
    switch (step.do) {
      case 'answer':
        await sleep(step.ms);
        return answer(run, response);
      case 'hold': {
        const released = new Promise<void>((done) => {
          this.held.set(done, run.modelId);
          response.once('close', () => {
            this.held.delete(done);
            done();
          });
        });
        await released;
        return answer(run, response);
      }
      case 'lines':
        await writeLines(step, run, response);
        return end(run, response, lineOf({ type: 'output', output: outputOf(run) }));
      case 'error':
        await writeLines(step, run, response);
        return end(run, response, lineOf({ type: 'error', message: 'as asked', retryable: step.retryable }));
      case 'deltas':
        await writeDeltas(step, run, response);
        return end(run, response, step.whole ? lineOf({ type: 'output', output: outputOf(run) }) : '');
      case 'file':
        return writeFile(step, run, response);
      case 'cut':
        if (step.bytes !== undefined) return writeFile({ ...step, bytes: step.bytes }, run, response);
        if (step.deltas !== undefined) await writeDeltas({ ...step, deltas: step.deltas }, run, response);
        else await writeLines({ ...step, lines: step.lines ?? 0 }, run, response);
        over(run);
        response.destroy();
        return;
      case 'status':
        await sleep(step.ms);
        if (step.retryAfter !== undefined) response.setHeader('retry-after', step.retryAfter);
        response.writeHead(step.status, { 'content-type': 'application/json' });
        return end(run, response, '{"why":"as asked"}');
      case 'reset':
        await sleep(step.ms);
        over(run);
        response.socket?.resetAndDestroy();
        return;
      case 'kill':
        await sleep(step.ms);
        for (const [other, { socket }] of response.destroyed ? [] : this.open)
          if (other.modelId === run.modelId) {
            over(other);
            socket?.resetAndDestroy();
          }
        return;
      case 'hang':
      case 'block':
      case 'crash':
    }
  }
}

function answer(run: ModelRun, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  end(run, response, JSON.stringify(outputOf(run)));
}

/** Sends the rest of an answer. */
function end(run: ModelRun, response: ServerResponse, rest: string | Uint8Array): void {
  over(run);
  response.end(rest);
}

/** Marks the run as over before the bytes leave: its caller may see the end before a busy harness notices it. */
function over(run: ModelRun): void {
  run.endedAt = Math.min(run.endedAt, now());
}

function lineOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}

function outputOf({ requestId, attempt, nonce }: ModelRun): object {
  return { request_id: requestId, attempt, nonce };
}

async function writeLines(
  { ms, lines }: { ms: number; lines: number },
  run: ModelRun,
  response: ServerResponse,
): Promise<void> {
  await say(ms, lines, response, (i) => {
    run.lines++;
    return { type: 'log', level: 'INFO', message: `${run.nonce} line ${i}` };
  });
}

async function writeDeltas(
  { ms, deltas, kind = 'texts' }: { ms: number; deltas: number; kind?: 'texts' | 'values' },
  { nonce }: ModelRun,
  response: ServerResponse,
): Promise<void> {
  await say(ms, deltas, response, (i) => ({ type: 'delta', delta: deltaOf(nonce, i, kind) }));
}

/** Writes `count` lines, evenly spread over the time. */
async function say(
  ms: number,
  count: number,
  response: ServerResponse,
  line: (i: number) => object,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  for (let i = 0; i < count && !response.destroyed; i++) {
    await sleep(ms / (count + 1));
    response.write(lineOf(line(i)));
  }
  await sleep(ms / (count + 1));
}

/** Sends the length first, so that half a file can be recognised. */
async function writeFile(
  step: { do: string; ms: number; bytes: number },
  run: ModelRun,
  response: ServerResponse,
): Promise<void> {
  const bytes = fileBytes(run.nonce, step.bytes);
  run.file = { size: bytes.length, sha256: sha256(bytes) };
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length });
  const half = bytes.length >> 1;
  response.write(bytes.subarray(0, half));
  await sleep(step.ms);
  if (step.do !== 'cut') return end(run, response, bytes.subarray(half));
  over(run);
  response.destroy();
}

import { appendFileSync, readFileSync } from 'node:fs';
import { Fail, Retry, serve, type Run } from '../../clients/typescript/src/worker/index.js';
import type { ChaosInput, Step } from '../model/behaviour.js';
import { deltaOf, fileBytes, sha256 } from '../model/made.js';

/** A worker in TypeScript. It does with each run what the input asks, and logs it. */
const environment = process.env as Record<`CHAOS_${'WORKER' | 'LOG' | 'RELEASE' | 'MODELS'}`, string>;
const asAskedCode = 86;
const releaseLookMs = 200;
/** The nonce of the last run, by request. */
const nonces = new Map<string, string>();
let made = 0;

interface Execution {
  run: Run;
  nonce: string;
  lines: number;
}

async function handle({ plan = [] }: ChaosInput, run: Run): Promise<unknown> {
  const { requestId: id, attempt, model, signal } = run;
  const execution = { run, nonce: `${id}.${attempt}.${process.pid}.${made++}`, lines: 0 };
  const { nonce } = execution;
  nonces.set(id, nonce);
  note(nonce, { say: 'start', id, attempt, model, worker: environment.CHAOS_WORKER });
  signal.addEventListener('abort', () => note(nonce, { say: 'told', why: reasonOf(signal) }));
  let how = 'failed';
  try {
    const output = await take(plan[Math.min(attempt, plan.length) - 1] ?? { do: 'hold' }, execution);
    how = 'answered';
    return output;
  } catch (error) {
    if (signal.aborted) how = 'stopped';
    throw error;
  } finally {
    note(nonce, { say: 'end', how, lines: execution.lines });
  }
}

async function take(step: Step, execution: Execution): Promise<unknown> {
  const { run, nonce } = execution;
  switch (step.do) {
    case 'answer':
      await pause(step.ms, run);
      return outputOf(execution);
    case 'lines':
      await sayLines(step, execution);
      return outputOf(execution);
    case 'deltas':
      await sayDeltas(step, execution);
      return step.whole ? outputOf(execution) : undefined;
    case 'cut':
      await sayDeltas({ ms: step.ms, deltas: step.deltas ?? 0, kind: 'texts' }, execution);
      throw new Error('as asked');
    case 'error':
      await sayLines(step, execution);
      throw step.retryable ? new Retry({ after: 0 }) : new Fail('as asked', { status: 422 });
    case 'file':
      return uploadOne(step, execution);
    case 'block':
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, step.ms);
      return outputOf(execution);
    case 'crash':
      await pause(step.ms, run);
      process.exit(asAskedCode);
    case 'hold': {
      const from = Date.now();
      while (releasedAt() < from) await pause(releaseLookMs, run);
      return outputOf(execution);
    }
    default:
      throw new Fail(`${nonce}: no worker can ${step.do}`);
  }
}

async function uploadOne(
  { ms, bytes }: { ms: number; bytes: number },
  execution: Execution,
): Promise<unknown> {
  const { run, nonce } = execution;
  await pause(ms, run);
  const content = fileBytes(nonce, bytes);
  note(nonce, { say: 'uploading' });
  const url = await run.upload('drawing.bin', content, 'application/octet-stream');
  note(nonce, { say: 'uploaded', url, size: content.length, sha256: sha256(content) });
  return { ...outputOf(execution), drawing: url };
}

async function sayLines({ ms, lines }: { ms: number; lines: number }, execution: Execution): Promise<void> {
  for (let i = 0; i < lines; i++) {
    await pause(ms / (lines + 1), execution.run);
    execution.run.log(`${execution.nonce} line ${i}`);
    execution.lines++;
  }
  await pause(ms / (lines + 1), execution.run);
}

async function sayDeltas(
  { ms, deltas, kind }: { ms: number; deltas: number; kind: 'texts' | 'values' },
  { run, nonce }: Execution,
): Promise<void> {
  for (let i = 0; i < deltas; i++) {
    await pause(ms / (deltas + 1), run);
    run.delta(deltaOf(nonce, i, kind));
    if (i % 10 === 0) run.progress(i / deltas, nonce);
  }
  await pause(ms / (deltas + 1), run);
}

function outputOf({ run: { requestId, attempt }, nonce }: Execution): object {
  return { request_id: requestId, attempt, nonce };
}

/** Rejects as soon as the run is to stop. */
async function pause(ms: number, { signal }: Run): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((done, fail) => {
    const stop = (): void => {
      clearTimeout(timer);
      fail(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      done();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

function reasonOf({ reason }: AbortSignal): string {
  return String((reason as { reason?: string }).reason);
}

/** Writes the line in one write, so that a process that is killed leaves no half line. */
function note(nonce: string, line: object): void {
  const at = performance.timeOrigin + performance.now();
  appendFileSync(environment.CHAOS_LOG, `${JSON.stringify({ at, pid: process.pid, nonce, ...line })}\n`);
}

function releasedAt(): number {
  try {
    return Number(readFileSync(environment.CHAOS_RELEASE, 'utf8'));
  } catch {
    return 0;
  }
}

/**
 * Makes this process use the given name, because the library gives each process its own. Its calls are made by `fetch`.
 */
function goBy(name: string): void {
  const own = globalThis.fetch;
  globalThis.fetch = async (target, init = {}) => {
    const { body } = init;
    const named =
      typeof body === 'string' ? body.replace(/("worker":\{"id"|"worker_id"):"[^"]+"/, `$1:"${name}"`) : body;
    const to = new URL(target).href.replace(/(\/worker\/workers\/)[^/]+$/, `$1${name}`);
    const response = await own(to, named === undefined ? init : { ...init, body: named });
    const [, id = '', what] = /\/worker\/runs\/([^/]+)\/(output|failure)$/.exec(to) ?? [];
    const nonce = nonces.get(id);
    if (what !== undefined && nonce !== undefined)
      note(nonce, { say: 'taken', what, status: response.status });
    return response;
  };
}

goBy(environment.CHAOS_WORKER);
const models = environment.CHAOS_MODELS.split(',').map((model) => [model, handle] as const);
await serve(Object.fromEntries(models), { concurrency: 8, name: environment.CHAOS_WORKER });

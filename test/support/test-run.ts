import { Subject } from 'rxjs';
import type { Files } from '../../src/files/files.js';
import { JsonThreads } from '../../src/json/json-threads.js';
import type { Model } from '../../src/models/model.js';
import { UnstoredResults } from '../../src/queue/runs/unstored-results.js';
import type { ModelsService } from '../../src/models/models.service.js';
import { type FollowedRun, type Run, RunFailure, type Runner } from '../../src/queue/runs/runner.js';
import { runOptionsOf } from '../../src/queue/submit/submission-options.js';
import type { Call } from './model-server.js';

/** For runs that store no files. */
export const noFiles = {} as Files;

/** Stores nothing: `urlOf` names a file. */
export function filesBy(urlOf: (bytes: Buffer, contentType: string) => string): Files {
  const receive = async (source: AsyncIterable<Buffer>): Promise<object> => {
    const chunks: Buffer[] = [];
    for await (const chunk of source) chunks.push(chunk);
    return {
      bytes: Buffer.concat(chunks),
      settle: () => Promise.resolve(),
      discard: () => Promise.resolve(),
    };
  };
  const keep = ({ bytes }: { bytes: Buffer }, { contentType }: { contentType: string }): Promise<object> =>
    Promise.resolve({ url: urlOf(bytes, contentType) });
  return { receive, keep, named: () => Promise.resolve(undefined) } as object as Files;
}

/** For answers of models, which have no schema. */
export const threads = new JsonThreads({
  changes: new Subject(),
  file: [],
} as Partial<ModelsService> as ModelsService);

export interface TestRun extends Run {
  lines: { level: string; message: string }[];
  /** Progress values with their messages. */
  steps: [value: number, message: string | undefined][];
  deltas: string[];
  /** The chunks that are kept. */
  chunks: string[];
  usages: object[];
  /** What the run has kept for other nodes. */
  kept: FollowedRun['answer'][];
  abort(reason: string): void;
}

/** A run without a queue. */
export function testRun(runner: object, input = '{"prompt":"a cat"}', attempt = 1): TestRun {
  const controller = new AbortController();
  const lines: TestRun['lines'] = [];
  const steps: TestRun['steps'] = [];
  const deltas: string[] = [];
  const chunks: string[] = [];
  const usages: object[] = [];
  const kept: FollowedRun['answer'][] = [];
  return {
    requestId: '01890000-0000-7000-8000-000000000001',
    model: { id: 'test/model', runner } as Model,
    attempt,
    start: attempt,
    input,
    options: runOptionsOf(undefined),
    signal: controller.signal,
    log: (level, message) => lines.push({ level, message }),
    progress: (value, message) => steps.push([value, message]),
    delta: (json) => deltas.push(json),
    chunk: (json, more) => {
      chunks.push(json);
      deltas.push(...more);
    },
    usage: (usage) => usages.push(usage),
    memory: new UnstoredResults(),
    facts: () => Promise.resolve({ key: 'billing', priority: 'high', tags: new Map([['user', 'Zoë']]) }),
    keepFollowed: (answer) => {
      kept.push(answer);
      return Promise.resolve();
    },
    forgetFollowed: () => {
      kept.pop();
      return Promise.resolve();
    },
    made: () => undefined,
    reached: () => undefined,
    lines,
    steps,
    deltas,
    chunks,
    usages,
    kept,
    abort: (reason) => controller.abort(reason),
  };
}

/** Returns the failure of the run. */
export async function failureOf(runner: Runner, run: Run): Promise<RunFailure> {
  const output = await runner.run(run).catch((error: unknown) => error);
  if (output instanceof RunFailure) return output;
  throw new Error('it ended in another way', { cause: output });
}

/** Answers a call with a body in chunks of `chunkBytes`, each in its own turn of the event loop. */
export function trickle(body: string | Buffer, chunkBytes: number, contentType = 'application/json') {
  const bytes = Buffer.from(body);
  return ({ response, socket }: Call): void => {
    socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': contentType });
    const next = (from: number): void => {
      if (from >= bytes.length) response.end();
      else
        response.write(bytes.subarray(from, from + chunkBytes), () => setImmediate(next, from + chunkBytes));
    };
    next(0);
  };
}

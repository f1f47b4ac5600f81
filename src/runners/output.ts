import { isUtf8 } from 'node:buffer';
import { DomainError } from '../errors/domain-error.js';
import type { JobKind, Jobs, Results } from '../json/jobs.js';
import type { JsonThreads } from '../json/json-threads.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { type Run, RunFailure } from '../queue/runs/runner.js';
import { readRunLine, type RunLine, RunLineFault } from '../queue/runs/run-lines.js';
import { parseJson } from '../tools/storable-text.js';
import { decode, notUtf8, readBody, readLines } from './model-answer.js';
import type { HttpAnswer } from './http-failure.js';

const maxWarnings = 10;

/**
 * An answer without its own end may be truncated. A parsable object or array is complete, but half of a number is also
 * a number.
 */
export async function readJsonOutput(
  { chunks, hasOwnEnd }: Pick<HttpAnswer, 'chunks' | 'hasOwnEnd'>,
  maxBytes: number,
  run: Pick<Run, 'model'>,
  threads: JsonThreads,
): Promise<string | Buffer> {
  const bytes = await readBody(chunks, maxBytes);
  const showsItsEnd = hasOwnEnd || /^\s*[[{]/.test(bytes.subarray(0, 1_000).toString());
  if (bytes.length > maxInlineBytes) {
    const [{ fault }, output] = await inThread(threads, 'output', {}, bytes, run);
    if (!showsItsEnd || (!hasOwnEnd && fault !== undefined)) throw endUnknown();
    if (fault === undefined) return output;
    throw new RunFailure(fault === 'is not UTF-8' ? notUtf8 : notJson);
  }
  const isJson = isUtf8(bytes) && parseJson(decode(bytes)) !== undefined;
  if (!hasOwnEnd && !(isJson && showsItsEnd)) throw endUnknown();
  const text = decode(bytes);
  if (isJson) return text;
  throw new RunFailure(text.trim() === '' ? "The model's answer is empty." : notJson);
}

const notJson = "The model's answer has the type application/json, but cannot be read as JSON.";

/** Reads an answer, or changes an input, that is too large for the event loop. */
export async function inThread<Kind extends Exclude<JobKind, 'input' | 'batch'>>(
  threads: JsonThreads,
  kind: Kind,
  job: Jobs[Kind],
  bytes: Buffer,
  { model }: Pick<Run, 'model'>,
): Promise<[Results[Kind], Buffer]> {
  try {
    return await threads.run<Kind>(kind, job, bytes, { caller: `model ${model.id}`, isAccepted: true });
  } catch (cause) {
    // A node that is less busy may read it in time. The memory that it takes is always the same.
    const retryable = cause instanceof DomainError && cause.code !== 'too_large';
    const what = kind === 'body' ? 'The input' : "The model's answer";
    throw new RunFailure(`${what} takes too much time or memory to read.`, { retryable, cause });
  }
}

/**
 * Passes the model's lines on as they arrive. Lines after the first output or error are not read. undefined: the deltas
 * are the output.
 */
export async function readNdjsonOutput(
  { chunks, hasOwnEnd }: Pick<HttpAnswer, 'chunks' | 'hasOwnEnd'>,
  maxBytes: number,
  run: Run,
  threads: JsonThreads,
): Promise<string | Buffer | undefined> {
  const warnings = new Set<string>();
  let deltaBytes = 0;
  for await (const { bytes: line, mayBeCut } of readLines(chunks, maxBytes)) {
    const runLine = line.length <= maxInlineBytes ? readLine(line) : await readLongLine(line, run, threads);
    if (runLine === undefined) continue;
    if (runLine instanceof RunFailure) throw mayBeCut && !hasOwnEnd ? endUnknown() : runLine;
    switch (runLine.type) {
      case 'log':
        run.log(runLine.level, runLine.message, runLine.source);
        break;
      case 'progress':
        run.progress(runLine.value, runLine.message);
        break;
      case 'usage':
        run.usage(runLine.usage);
        break;
      case 'delta':
        deltaBytes += Buffer.byteLength(runLine.delta);
        if (deltaBytes > maxBytes)
          throw new RunFailure(`The model's output is larger than ${maxBytes} bytes.`);
        run.delta(runLine.delta);
        break;
      case 'output':
        return runLine.output;
      case 'error':
        throw new RunFailure(runLine.message, { retryable: runLine.retryable });
      case 'ignored':
        warnOnce(runLine.warning, warnings, run);
    }
  }
  if (deltaBytes > 0 && hasOwnEnd) return undefined;
  if (deltaBytes > 0) throw endUnknown();
  throw new RunFailure("The model's answer ended without an output line.", { retryable: true });
}

/** The answer may be complete, or its rest may have been lost with the connection. */
export function endUnknown(): RunFailure {
  return new RunFailure(
    "The model's answer ended with its connection, so it may be incomplete: send Content-Length or chunks.",
    { retryable: true },
  );
}

/** undefined: the line is blank. */
function readLine(line: Buffer): RunLine | RunFailure | undefined {
  try {
    const text = decode(line).trim();
    return text === '' ? undefined : readRunLine(text);
  } catch (error) {
    if (error instanceof RunFailure) return error;
    if (error instanceof RunLineFault) return holds(error.message);
    throw error;
  }
}

type LongRunLine = Exclude<RunLine, { type: 'output' }> | { type: 'output'; output: Buffer };

async function readLongLine(line: Buffer, run: Run, threads: JsonThreads): Promise<LongRunLine | RunFailure> {
  if (!isUtf8(line)) return new RunFailure(notUtf8);
  const [result, output] = await inThread(threads, 'runLine', {}, line, run);
  if ('fault' in result) return holds(result.fault);
  return result.runLine.type === 'output' ? { type: 'output', output } : result.runLine;
}

const holds = (what: string): RunFailure => new RunFailure(`The model's answer contains ${what}.`);

function warnOnce(warning: string, seen: Set<string>, run: Run): void {
  if (seen.has(warning) || seen.size >= maxWarnings) return;
  seen.add(warning);
  run.log('WARN', warning);
}

import { type Run, RunFailure } from '../queue/runs/runner.js';
import { readSaid, type Said, SaidFault } from '../queue/runs/said.js';
import { parseJson } from '../tools/storable-text.js';
import type { HttpAnswer } from './http-exchange.js';
import { type Chunks, readBody, readLines } from './answer-body.js';

const maxWarnings = 10;

export async function readJsonOutput(chunks: Chunks, maxBytes: number): Promise<string> {
  const text = await readBody(chunks, maxBytes);
  if (parseJson(text) !== undefined) return text;
  const reason = text.trim() === '' ? 'is empty' : 'is called application/json, but cannot be read as JSON';
  throw new RunFailure(`The model's answer ${reason}.`);
}

/**
 * Passes on what the model says as it comes; the first output or error line is its last word. undefined: its deltas are
 * the output.
 */
export async function readNdjsonOutput(
  { chunks, hasOwnEnd }: Pick<HttpAnswer, 'chunks' | 'hasOwnEnd'>,
  maxBytes: number,
  run: Run,
): Promise<string | undefined> {
  const warnings = new Set<string>();
  let deltaBytes = 0;
  for await (const line of readLines(chunks, maxBytes)) {
    const text = line.trim();
    if (text === '') continue;
    const said = read(text);
    switch (said.type) {
      case 'log':
        run.log(said.level, said.message, said.source);
        break;
      case 'progress':
        run.progress(said.value, said.message);
        break;
      case 'delta':
        deltaBytes += Buffer.byteLength(said.delta);
        if (deltaBytes > maxBytes)
          throw new RunFailure(`The model's output is larger than ${maxBytes} bytes.`);
        run.delta(said.delta);
        break;
      case 'output':
        return said.output;
      case 'error':
        throw new RunFailure(said.message, { retryable: said.retryable });
      case 'passed over':
        warnOnce(said.warning, warnings, run);
    }
  }
  if (deltaBytes > 0 && hasOwnEnd) return undefined;
  const unsure = deltaBytes > 0 ? ', and with no length or chunks to tell its end from a break' : '';
  throw new RunFailure(`The model's answer ended without an output line${unsure}.`, { retryable: true });
}

function read(line: string): Said {
  try {
    return readSaid(line);
  } catch (error) {
    if (error instanceof SaidFault) throw new RunFailure(`The model's answer holds ${error.message}.`);
    throw error;
  }
}

function warnOnce(warning: string, seen: Set<string>, run: Run): void {
  if (seen.has(warning) || seen.size >= maxWarnings) return;
  seen.add(warning);
  run.log('WARN', warning);
}

import { type Run, RunFailure } from '../queue/runs/runner.js';
import { readSaid, type Said, SaidFault } from '../queue/runs/said.js';
import { parseJson } from '../tools/storable-text.js';
import type { HttpAnswer } from './http-exchange.js';
import { readBody, readLines } from './answer-body.js';

const maxWarnings = 10;

/** An answer that ends with its connection may be cut. An object or an array that can be read is whole; half of a number is one. */
export async function readJsonOutput(
  { chunks, hasOwnEnd }: Pick<HttpAnswer, 'chunks' | 'hasOwnEnd'>,
  maxBytes: number,
): Promise<string> {
  const text = await readBody(chunks, maxBytes);
  const isJson = parseJson(text) !== undefined;
  if (!hasOwnEnd && !(isJson && /^\s*[[{]/.test(text))) throw endUnknown();
  if (isJson) return text;
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
  let fault: RunFailure | undefined;
  for await (const line of readLines(chunks, maxBytes)) {
    // A line after it, also an empty one, shows that it was not the end of the connection that cut it.
    if (fault !== undefined) throw fault;
    const text = line.trim();
    if (text === '') continue;
    const said = read(text);
    if (said instanceof RunFailure) {
      fault = said;
      continue;
    }
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
  if (fault !== undefined) throw hasOwnEnd ? fault : endUnknown();
  if (deltaBytes > 0 && hasOwnEnd) return undefined;
  if (deltaBytes > 0) throw endUnknown();
  throw new RunFailure("The model's answer ended without an output line.", { retryable: true });
}

/** The answer may be whole, or the rest of it may have been lost with the connection. */
export function endUnknown(): RunFailure {
  return new RunFailure(
    "The model's answer ended with its connection, so nobody knows whether it was whole: send Content-Length or chunks.",
    { retryable: true },
  );
}

function read(line: string): Said | RunFailure {
  try {
    return readSaid(line);
  } catch (error) {
    if (error instanceof SaidFault) return new RunFailure(`The model's answer holds ${error.message}.`);
    throw error;
  }
}

function warnOnce(warning: string, seen: Set<string>, run: Run): void {
  if (seen.has(warning) || seen.size >= maxWarnings) return;
  seen.add(warning);
  run.log('WARN', warning);
}

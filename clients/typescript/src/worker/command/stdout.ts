import { StringDecoder } from 'node:string_decoder';
import type { LogLevel, Usage } from '../event-sender.js';
import { Fail, Retry } from '../failures.js';
import { memberOf } from '../json-scanner.js';
import { JsonText } from '../json-text.js';
import type { Run } from '../types.js';
import { Lines } from './lines.js';

export const stdoutForms = ['json', 'ndjson', 'text'] as const;
export type StdoutForm = (typeof stdoutForms)[number];

/** The highest `MAX_OUTPUT_BYTES` that a service may have. The service itself enforces its actual setting. */
const maxBytes = 256 * 1024 * 1024;

/** Reads the stdout of a command; `push` and `end` return deltas. */
export interface StdoutReader {
  push(chunk: Uint8Array): unknown[];
  end(): unknown[];
  /** The error that the command itself reported. */
  readonly error: Error | undefined;
  /** Returns JSON text, after exit code 0. undefined: the deltas are the output. Throws if there is no output. */
  output(): string | undefined;
}

type Listener = Pick<Run, 'log' | 'progress' | 'usage'>;

export function readerOf(form: StdoutForm, run: Listener): StdoutReader {
  if (form === 'json') return new JsonReader();
  return form === 'text' ? new TextReader() : new NdjsonReader(run);
}

class JsonReader implements StdoutReader {
  readonly error = undefined;
  private readonly chunks: Uint8Array[] = [];
  private bytes = 0;

  push(chunk: Uint8Array): unknown[] {
    this.bytes += chunk.length;
    if (this.bytes > maxBytes) throw new Fail('The command printed too much.');
    this.chunks.push(chunk);
    return [];
  }

  end(): unknown[] {
    return [];
  }

  output(): string {
    const text = Buffer.concat(this.chunks).toString('utf8');
    if (text.trim() === '') throw new Fail('The command ended without an output.');
    try {
      JSON.parse(text);
    } catch {
      throw new Fail('The output of the command is not one JSON value.');
    }
    return text.trim();
  }
}

class TextReader implements StdoutReader {
  readonly error = undefined;
  private readonly decoder = new StringDecoder('utf8');
  private isEmpty = true;

  push(chunk: Uint8Array): unknown[] {
    return this.given(this.decoder.write(Buffer.from(chunk)));
  }

  end(): unknown[] {
    return this.given(this.decoder.end());
  }

  output(): undefined {
    if (this.isEmpty) throw new Fail('The command ended without an output.');
  }

  private given(text: string): string[] {
    if (text === '') return [];
    this.isEmpty = false;
    return [text];
  }
}

const levels: Record<string, LogLevel> = {
  TRACE: 'DEBUG',
  DEBUG: 'DEBUG',
  WARN: 'WARN',
  WARNING: 'WARN',
  ERROR: 'ERROR',
  CRITICAL: 'ERROR',
  FATAL: 'ERROR',
};

/** Lines after the first output or error are ignored, as they are from a model over HTTP. */
class NdjsonReader implements StdoutReader {
  error: Error | undefined;
  private readonly lines = new Lines(/\r?\n/, maxBytes);
  private given: string | undefined;
  private hasDeltas = false;

  constructor(private readonly run: Listener) {}

  push(chunk: Uint8Array): unknown[] {
    return this.lines.push(chunk).flatMap((line) => this.read(line));
  }

  end(): unknown[] {
    return this.lines.end().flatMap((line) => this.read(line));
  }

  output(): string | undefined {
    if (this.given === undefined && !this.hasDeltas)
      throw new Fail('The command ended without an output line.');
    return this.given;
  }

  private read(line: string): unknown[] {
    if (this.given !== undefined || this.error !== undefined) return [];
    const { type, message, level, source, value, usage, delta, output, retryable } = parseLine(line);
    if (type === 'log') this.run.log(textOf(message), levels[String(level).toUpperCase()], sourceOf(source));
    else if (type === 'progress' && typeof value === 'number' && value >= 0 && value <= 1) {
      this.run.progress(value, message === undefined ? undefined : textOf(message));
    } else if (type === 'usage' && isUsage(usage)) this.run.usage(usage);
    else if (type === 'delta' && delta !== undefined) {
      this.hasDeltas = true;
      return [typeof delta === 'string' ? delta : new JsonText(memberOf(line, 'delta')!)];
    } else if (type === 'output' && output !== undefined) this.given = memberOf(line, 'output');
    else if (type === 'error') {
      const said = message === undefined ? 'The command failed.' : textOf(message);
      this.error = retryable === true ? new Retry({ message: said }) : new Fail(said);
    } else this.run.log(`A line of the type "${type}" cannot be used and is ignored.`, 'WARN');
    return [];
  }
}

function parseLine(line: string): Record<string, unknown> & { type: string } {
  try {
    const value = JSON.parse(line) as { type?: unknown } | null;
    if (typeof value?.type === 'string') return value as Record<string, unknown> & { type: string };
  } catch {
    // thrown below
  }
  throw new Fail('The command printed a line that is not a JSON object with a "type".');
}

const isUsage = (value: unknown): value is Usage =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sourceOf = (source: unknown): 'stdout' | 'stderr' | undefined =>
  source === 'stdout' || source === 'stderr' ? source : undefined;

const textOf = (message: unknown): string =>
  typeof message === 'string' ? message : (JSON.stringify(message) ?? '');

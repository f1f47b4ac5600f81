import { type LogLevel, type Run, RunFailure } from '../queue/runs/runner.js';
import { decode } from './bounded-body.js';
import type { HttpAnswer } from './http-exchange.js';
import { parseJson } from './json-text.js';
import { rawMember } from '../tools/json-scanner.js';
import { cleanText } from './http-failure.js';
import { readLines } from './read-lines.js';

const maxMessageLength = 8_192;
const maxUnknownTypes = 10;

const levels: Record<string, LogLevel> = {
  TRACE: 'DEBUG',
  DEBUG: 'DEBUG',
  INFO: 'INFO',
  WARN: 'WARN',
  WARNING: 'WARN',
  ERROR: 'ERROR',
  CRITICAL: 'ERROR',
  FATAL: 'ERROR',
};

/** Passes log lines on as they come; the first output or error line is the model's last word. */
export async function readNdjsonOutput({ chunks }: HttpAnswer, maxBytes: number, run: Run): Promise<string> {
  const unknownTypes = new Set<string>();
  for await (const bytes of readLines(chunks, maxBytes)) {
    const text = decode(bytes).trim();
    if (text === '') continue;
    const line = parseLine(text);
    switch (line.type) {
      case 'log':
        run.log(levelOf(line.level), messageOf(line.message));
        break;
      case 'output': {
        const output = rawMember(text, 'output');
        if (output === undefined) throw malformed('an output line without "output"');
        return output;
      }
      case 'error':
        throw new RunFailure(line.message === undefined ? 'The model failed.' : messageOf(line.message), {
          code: 'model_error',
          retryable: line.retryable === true,
        });
      default:
        warnOnce(line.type, unknownTypes, run);
    }
  }
  throw new RunFailure("The model's answer ended without an output line.", {
    code: 'model_error',
    retryable: true,
  });
}

function parseLine(text: string): Record<string, unknown> & { type: string } {
  const value = parseJson(text)?.value;
  if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') {
    throw malformed('a line that is not a JSON object with a "type"');
  }
  return value as Record<string, unknown> & { type: string };
}

function malformed(what: string): RunFailure {
  return new RunFailure(`The model's answer holds ${what}.`, { code: 'model_error', retryable: false });
}

function levelOf(level: unknown): LogLevel {
  return (typeof level === 'string' ? levels[level.toUpperCase()] : undefined) ?? 'INFO';
}

function messageOf(message: unknown): string {
  return cleanText(typeof message === 'string' ? message : JSON.stringify(message ?? null), maxMessageLength);
}

function warnOnce(type: string, seen: Set<string>, run: Run): void {
  const name = cleanText(type, 50);
  if (seen.has(name) || seen.size >= maxUnknownTypes) return;
  seen.add(name);
  run.log('WARN', `Lines of the unknown type "${name}" in the model's answer are passed over.`);
}

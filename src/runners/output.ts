import { type LogLevel, type Run, RunFailure } from '../queue/runs/runner.js';
import { rawMember } from '../tools/json-scanner.js';
import { type Chunks, cleanText, parseJson, readBody, readLines } from './answer-body.js';

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

export async function readJsonOutput(chunks: Chunks, maxBytes: number): Promise<string> {
  const text = await readBody(chunks, maxBytes);
  if (parseJson(text) !== undefined) return text;
  const reason = text.trim() === '' ? 'is empty' : 'is called application/json, but cannot be read as JSON';
  throw new RunFailure(`The model's answer ${reason}.`);
}

/** Passes log lines on as they come; the first output or error line is the model's last word. */
export async function readNdjsonOutput(chunks: Chunks, maxBytes: number, run: Run): Promise<string> {
  const unknownTypes = new Set<string>();
  for await (const line of readLines(chunks, maxBytes)) {
    const text = line.trim();
    if (text === '') continue;
    const { type, level, message, retryable } = parseLine(text);
    switch (type) {
      case 'log':
        run.log(levelOf(level), messageOf(message));
        break;
      case 'output': {
        const output = rawMember(text, 'output');
        if (output === undefined) throw malformed('an output line without "output"');
        return output;
      }
      case 'error': {
        const said = message === undefined ? 'The model failed.' : messageOf(message);
        throw new RunFailure(said, { retryable: retryable === true });
      }
      default:
        warnOnce(type, unknownTypes, run);
    }
  }
  throw new RunFailure("The model's answer ended without an output line.", { retryable: true });
}

function parseLine(text: string): Record<string, unknown> & { type: string } {
  const value = parseJson(text)?.value;
  if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') {
    throw malformed('a line that is not a JSON object with a "type"');
  }
  return value as Record<string, unknown> & { type: string };
}

function malformed(what: string): RunFailure {
  return new RunFailure(`The model's answer holds ${what}.`);
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

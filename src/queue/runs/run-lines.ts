import { rawMember } from '../../tools/json-scanner.js';
import { cleanText, parseJson } from '../../tools/storable-text.js';
import type { LogLevel, LogSource } from './runner.js';
import { type Usage, usageIn } from './usage.js';

const maxMessageLength = 8_192;
export const maxProgressMessage = 1_000;
const maxDeltaBytes = 64 * 1024;

/** One line that a run emits, in the format that models, commands and workers share. */
export type RunLine =
  | { type: 'log'; level: LogLevel; message: string; source: LogSource }
  | { type: 'progress'; value: number; message: string | undefined }
  | { type: 'usage'; usage: Usage }
  /** A part of the output, as JSON text. */
  | { type: 'delta'; delta: string }
  /** JSON text. */
  | { type: 'output'; output: string }
  | { type: 'error'; message: string; retryable: boolean }
  | { type: 'ignored'; warning: string };

/** A line that makes the whole answer invalid. Its message is a noun phrase: what was found. */
export class RunLineFault extends Error {}

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

/** Reads a line of NDJSON. Of a repeated member the last one counts, as in JSON. */
export function readRunLine(line: string): RunLine {
  const members = parseJson(line)?.value as Record<string, unknown> | null | undefined;
  if (typeof members !== 'object' || members === null || typeof members.type !== 'string') {
    throw new RunLineFault('a line that is not a JSON object with a "type"');
  }
  const { type, level, message, source, value, retryable } = members;
  switch (type) {
    case 'log':
      return { type, level: levelOf(level), message: messageOf(message), source: sourceOf(source) };
    case 'progress':
      if (typeof value !== 'number' || value < 0 || value > 1)
        return ignored('Progress lines whose "value" is not a number from 0 to 1');
      return { type, value, message: message === undefined ? undefined : messageOf(message) };
    case 'usage': {
      const usage = usageIn(members.usage);
      if (usage === undefined) return ignored('Usage lines without a map of whole numbers');
      return { type, usage };
    }
    case 'delta':
      return { type, delta: deltaOf(line) };
    case 'output': {
      const output = rawMember(line, type);
      if (output === undefined) throw new RunLineFault('an output line without "output"');
      return { type, output };
    }
    case 'error':
      return {
        type,
        message: message === undefined ? 'The model failed.' : messageOf(message),
        retryable: retryable === true,
      };
    default:
      return ignored(`Lines of the unknown type "${cleanText(type, 50)}"`);
  }
}

function deltaOf(line: string): string {
  const delta = rawMember(line, 'delta');
  if (delta === undefined) throw new RunLineFault('a delta line without "delta"');
  if (Buffer.byteLength(delta) > maxDeltaBytes)
    throw new RunLineFault(`a delta larger than ${maxDeltaBytes} bytes`);
  return delta;
}

const ignored = (what: string): RunLine => ({
  type: 'ignored',
  warning: `${what} in the model's answer are ignored.`,
});

function levelOf(level: unknown): LogLevel {
  return (typeof level === 'string' ? levels[level.toUpperCase()] : undefined) ?? 'INFO';
}

function sourceOf(source: unknown): LogSource {
  return source === 'stdout' || source === 'stderr' ? source : 'runner';
}

function messageOf(message: unknown): string {
  return cleanText(typeof message === 'string' ? message : JSON.stringify(message ?? null), maxMessageLength);
}

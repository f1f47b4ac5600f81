import { parseDuration } from '../config/parsers.js';
import { isModelId } from './model-id.js';
import type { OptionParser } from './option-map.js';

export function text(maxLength: number): OptionParser<string> {
  return (value) => {
    if (typeof value !== 'string' || value.length > maxLength) {
      throw new Error(`expected a text of at most ${maxLength} characters`);
    }
    return value;
  };
}

export function integer(least: number, most: number): OptionParser<number> {
  return (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
      throw new Error(`expected a whole number from ${least} to ${most}`);
    }
    return value;
  };
}

/** Milliseconds of a duration from 1 ms to `most`, itself a duration. */
export function duration(most: string): OptionParser<number> {
  const maxMs = parseDuration(most);
  return (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new Error('expected a duration such as 250ms, 30s, 10m, 1h or 30d');
    }
    const ms = parseDuration(String(value));
    if (ms < 1 || ms > maxMs) throw new Error(`expected a duration from 1ms to ${most}`);
    return ms;
  };
}

export function choice<const T extends string>(choices: readonly T[]): OptionParser<T> {
  return (value) => {
    const chosen = choices.find((candidate) => candidate === value);
    if (chosen === undefined) throw new Error(`expected one of ${choices.join(', ')}`);
    return chosen;
  };
}

export function modelId(value: unknown): string {
  if (typeof value !== 'string' || !isModelId(value)) {
    throw new Error(
      'expected 1 to 8 segments joined by "/", each of letters, digits, ".", "_" and "-" and beginning with ' +
        'a letter or digit; the first must not be "requests"',
    );
  }
  return value;
}

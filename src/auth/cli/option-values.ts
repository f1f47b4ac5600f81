import { InvalidArgumentError } from 'commander';
import { parseDuration, parseRateLimits } from '../../config/parsers.js';
import { isKeyName, isModelPattern, priorities, type Priority, type Scope, scopes } from '../caller.js';
import type { NewKey } from '../keys.service.js';

/* The parser of an option's value reports what is wrong with it. */

export function scopeValue(text: string, before: readonly Scope[] | undefined): Scope[] {
  const scope = scopes.find((known) => known === text.toLowerCase());
  if (scope === undefined) throw new InvalidArgumentError(`Expected one of ${scopes.join(', ')}.`);
  return [...(before ?? []), scope];
}

export function modelValue(text: string, before: readonly string[] | undefined): string[] {
  if (!isModelPattern(text)) {
    throw new InvalidArgumentError(
      'Expected a model id such as acme/image/upscale, or a pattern such as acme/*. Leave it out for all models.',
    );
  }
  return [...(before ?? []), text];
}

export function nameValue(text: string): string {
  const name = text.trim();
  if (!isKeyName(name)) throw new InvalidArgumentError('Expected 1 to 100 printable characters.');
  return name;
}

export function rateLimitValue(text: string): string {
  explain(() => parseRateLimits(text));
  return text.trim().toLowerCase();
}

export function priorityValue(text: string): Priority {
  const priority = priorities.find((known) => known === text.toLowerCase());
  if (priority === undefined) throw new InvalidArgumentError(`Expected one of ${priorities.join(', ')}.`);
  return priority;
}

export function countValue(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return Number(text);
}

export function boundValue(text: string): number | 'off' {
  if (text.toLowerCase() === 'off') return 'off';
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('Expected a whole number of at least 1, or off.');
  return Number(text);
}

export function weightValue(text: string): number {
  const weight = /^\d{1,4}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN;
  if (weight >= 0.01 && weight <= 1_000) return weight;
  throw new InvalidArgumentError('Expected a number from 0.01 to 1000, such as 2 or 0.5.');
}

export function expiryValue(text: string): NonNullable<NewKey['expires']> {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) {
    const inMs = explain(() => parseDuration(text));
    if (inMs < 1) throw new InvalidArgumentError('Expected a time in the future.');
    return { inMs };
  }
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('Expected an ISO date such as 2030-12-31.');
  if (at.getTime() <= Date.now()) throw new InvalidArgumentError('Expected a time in the future.');
  return { at };
}

function explain<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

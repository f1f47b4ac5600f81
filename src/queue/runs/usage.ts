import { cleanText } from '../../tools/storable-text.js';

/** What an attempt has used, such as tokens or seconds: whole numbers by name. */
export type Usage = Readonly<Record<string, number>>;

const maxNames = 50;
const maxNameLength = 100;

/**
 * Reads the usage that a model reports. Nested names are joined by a point, and values that are not whole numbers are
 * left out. undefined: nothing is left.
 */
export function usageIn(value: unknown): Usage | undefined {
  const numbers = new Map<string, number>();
  collect(value, '', numbers);
  return numbers.size === 0 ? undefined : Object.fromEntries(numbers);
}

function collect(value: unknown, name: string, into: Map<string, number>): void {
  if (into.size >= maxNames) return;
  if (Number.isSafeInteger(value) && name !== '') into.set(name, value as number);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [member, one] of Object.entries(value)) {
    const path = name === '' ? member : `${name}.${member}`;
    if (path.length <= maxNameLength) collect(one, cleanText(path, maxNameLength), into);
  }
}

import { parseDuration } from '../../config/parsers.js';
import { isStorable } from '../../tools/storable-text.js';

/* Parsers of the values of options. Each throws an error that says what is expected. */

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('expected one text, once');
  if (!isStorable(value)) throw new Error('expected a text without NUL and without half a surrogate pair');
  return value;
}

export function oneOf<Choice>(choices: readonly Choice[]): (value: unknown) => Choice {
  return (value) => {
    const found = choices.find((one) => one === value);
    if (found === undefined) throw new Error(`expected one of ${choices.join(', ')}`);
    return found;
  };
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970. */
export function time(value: unknown): number {
  // A plus sign that was not encoded arrives as a space.
  const written = text(value).replace(/ (\d\d:\d\d)$/, '+$1');
  const [, year = NaN, month = NaN, day = NaN] = (rfc3339.exec(written) ?? []).map(Number);
  const ms = Date.parse(written.toUpperCase().replace(' ', 'T'));
  // Date.parse reads the 31st of a 30-day month as the 1st of the next month.
  const isDay = day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!isDay || Number.isNaN(ms)) {
    throw new Error('expected a time as in RFC 3339, such as 2030-01-31T08:00:00Z');
  }
  return ms;
}

/** Milliseconds. A bare number is in seconds. */
export function duration(value: unknown): number {
  return parseDuration(typeof value === 'number' ? String(value) : text(value));
}

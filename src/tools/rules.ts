import { validate as isUuid } from 'uuid';
import { DomainError } from '../errors/domain-error.js';
import { parseDuration } from './duration.js';
import { isStorable } from './storable-text.js';

/** How a value is read, and how the API description shows it. */
export interface Rule<T> {
  /** Throws an error that says what is expected. */
  read: (value: unknown) => T;
  schema: Readonly<Record<string, unknown>>;
}

export const rule = <T>(schema: Rule<T>['schema'], read: (value: unknown) => T): Rule<T> => ({
  read,
  schema,
});

/** The refusal of a value, with its place in the input. */
export class Refusal extends Error {
  constructor(
    readonly path: string,
    readonly expected: string,
  ) {
    super(`"${path}": ${expected}`);
  }
}

/** Returns the error that a rule threw, with the place of the value. */
export function refusalAt(place: string, error: unknown): Error {
  if (error instanceof DomainError) return error;
  if (!(error instanceof Refusal)) return new Refusal(place, (error as Error).message);
  return new Refusal(`${place}${error.path.startsWith('[') ? '' : '.'}${error.path}`, error.expected);
}

/** Empty values of a query count as absent, and null in JSON too. */
export function isGiven(value: unknown): boolean {
  return value !== '' && value !== undefined && value !== null;
}

export const text = rule({ type: String }, (value) => {
  if (typeof value !== 'string') throw new Error('expected one text, once');
  if (!isStorable(value)) throw new Error('expected a text without NUL and without half a surrogate pair');
  return value;
});

/** A text for people, on one line. */
export const line = (minLength: number, maxLength: number): Rule<string> =>
  rule({ type: String, ...(minLength > 0 && { minLength }), maxLength }, (value) => {
    const isLine = typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value);
    if (isLine && value.length >= minLength && value.length <= maxLength) return value;
    const length = minLength > 0 ? `${minLength} to ${maxLength}` : `at most ${maxLength}`;
    throw new Error(`expected a text of ${length} printable characters`);
  });

export const oneOf = <Choice>(choices: readonly Choice[]): Rule<Choice> =>
  rule({ type: String, enum: [...choices] }, (value) => {
    const found = choices.find((one) => one === value);
    if (found === undefined) throw new Error(`expected one of ${choices.join(', ')}`);
    return found;
  });

export const flag = rule({ type: Boolean }, (value) => {
  if (typeof value === 'boolean') return value;
  throw new Error('expected true or false');
});

const words = new Map<unknown, boolean>([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
]);

/** A flag in a query. */
export const flagText = rule({ type: String, enum: [...words.keys()] }, (value) => {
  const read = words.get(value);
  if (read === undefined) throw new Error('expected 1, true, 0 or false, once');
  return read;
});

export const whole = (minimum: number, maximum: number): Rule<number> =>
  rule({ type: 'integer', minimum, maximum }, (value) => {
    if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return Number(value);
    throw new Error(`expected a whole number from ${minimum} to ${maximum}`);
  });

export const decimal = (minimum: number, maximum: number): Rule<number> =>
  rule({ type: Number, minimum, maximum }, (value) => {
    if (typeof value === 'number' && value >= minimum && value <= maximum) return value;
    throw new Error(`expected a number from ${minimum} to ${maximum}`);
  });

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970. */
export const time = rule({ type: String, format: 'date-time' }, (value) => {
  // A plus sign that was not encoded arrives as a space.
  const written = text.read(value).replace(/ (\d\d:\d\d)$/, '+$1');
  const [, year = NaN, month = NaN, day = NaN] = (rfc3339.exec(written) ?? []).map(Number);
  const ms = Date.parse(written.toUpperCase().replace(' ', 'T'));
  // Date.parse reads the 31st of a 30-day month as the 1st of the next month.
  const isDay = day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!isDay || Number.isNaN(ms)) {
    throw new Error('expected a time as in RFC 3339, such as 2030-01-31T08:00:00Z');
  }
  return ms;
});

/** Milliseconds. A bare number is in seconds. */
export const duration = rule({ type: String }, (value) =>
  parseDuration(typeof value === 'number' ? String(value) : text.read(value)),
);

export const uuid = rule({ type: String, format: 'uuid' }, (value) => {
  const id = text.read(value);
  if (!isUuid(id)) throw new Error('expected an id, which is a UUID');
  return id.toLowerCase();
});

export const listOf = <T>(one: Rule<T>, maxItems: number): Rule<readonly T[]> =>
  rule({ ...one.schema, type: [one.schema['type']], minItems: 1, maxItems }, (value) => {
    if (!Array.isArray(value) || value.length < 1 || value.length > maxItems)
      throw new Error(`expected a list of 1 to ${maxItems} entries`);
    return value.map((entry, i) => {
      try {
        return one.read(entry);
      } catch (error) {
        throw refusalAt(`[${i}]`, error);
      }
    });
  });

/** Any texts, because an unknown id is no fault. */
export const ids = (maxItems: number, noun = 'ids'): Rule<readonly string[]> =>
  rule({ type: [String], minItems: 1, maxItems }, (value) => {
    const areTexts = Array.isArray(value) && value.every((id) => typeof id === 'string');
    if (areTexts && value.length >= 1 && value.length <= maxItems) return value;
    throw new Error(`expected a list of 1 to ${maxItems} ${noun}`);
  });

/** null has a meaning of its own. */
export const orNull = <T>({ read, schema }: Rule<T>): Rule<T | null> =>
  rule({ ...schema, nullable: true }, (value) => (value === null ? null : read(value)));

/** null counts as a member that is left out. */
export const orLeftOut = <T>({ read, schema }: Rule<T>): Rule<T | undefined> =>
  rule(schema, (value) => (value === null ? undefined : read(value)));

import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { priorities, type Priority } from '../../auth/caller.js';
import { parseDuration } from '../../config/parsers.js';
import { DomainError } from '../../errors/domain-error.js';
import { problem, validated } from '../../http/validated.js';
import { hint } from '../../models/closest.js';
import { isStorable } from '../../tools/storable-text.js';
import { allOf, Parsed } from '../../tools/validation.js';

const maxTags = 8;
const maxUrlLength = 2_048;

/** A query parameter, or a member of a body. `parse` throws an error that says what is accepted. */
export function Option(
  name: string,
  parse: (value: unknown) => unknown,
  description: string,
  example?: unknown,
  more: ApiPropertyOptions = {},
): PropertyDecorator {
  return allOf(
    Parsed((value: unknown) => {
      try {
        return parse(value);
      } catch (error) {
        throw new Error(`The option "${name}": ${(error as Error).message}.`, { cause: error });
      }
    }, problem('invalid_query')),
    ApiPropertyOptional({ type: String, description, ...(example !== undefined && { example }), ...more }),
  );
}

/** The options of a submission, from its query or from an entry of a batch. */
export class SubmitQuery {
  @Option('webhook', url, 'A URL that is called when the request completes.')
  webhook: string | undefined;

  @Option(
    'priority',
    priority,
    '`high`, `normal` (the default) or `low`: requests of a higher priority are claimed before all others of ' +
      'the model.',
    'normal',
  )
  priority: Priority | undefined;

  @Option(
    'not_before',
    time,
    'RFC 3339: the time at which the request joins the queue, at most 30 days ahead. Not together with `delay`.',
  )
  not_before: number | undefined;

  @Option(
    'delay',
    duration,
    'A duration from now until the request joins the queue, such as `30s`, `10m` or `2h`.',
  )
  delay: number | undefined;

  @Option(
    'expires',
    positive,
    'A duration. A request that has not started by then ends as `expired`. It counts from when the request ' +
      'joins the queue, and is at most the model’s own value.',
  )
  expires: number | undefined;

  @Option(
    'timeout',
    positive,
    'A duration: the longest time that a run may take. It is at most the model’s own value.',
  )
  timeout: number | undefined;

  @Option(
    'tag',
    tagList,
    '`key:value`, each of 1 to 64 letters, digits, dots, underscores and hyphens. May be repeated up to 8 times.',
    ['job:17'],
    { type: [String] },
  )
  tag: readonly string[] | undefined;
}

const names = ['webhook', 'priority', 'not_before', 'delay', 'expires', 'timeout', 'tag'];
export const noOptions: Readonly<SubmitQuery> = Object.freeze(new SubmitQuery());

/**
 * `plain`: texts, or arrays of texts for repeated parameters. Empty values count as absent, and `logs` is ignored. A
 * name that ends in `_webhook` means `webhook`, because client libraries add a prefix.
 */
export function submitOptions(plain: object): Readonly<SubmitQuery> {
  const entries = Object.entries(plain)
    .filter(([name, value]) => isOption(value) && name !== 'logs')
    .map(([name, value]): [string, unknown] => [name.endsWith('_webhook') ? 'webhook' : name, value]);
  if (entries.length === 0) return noOptions;
  assertKnown(entries, names);
  const options = Object.fromEntries(entries);
  if (Object.keys(options).length < entries.length) {
    throw new DomainError('invalid_query', 'The option "webhook" is there twice.');
  }
  return validated(SubmitQuery, options);
}

/** An option also counts as absent if it is a list of only empty values. */
export function isOption(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isGiven) : isGiven(value);
}

/** Empty values of a query count as absent, and null in JSON too. */
export function isGiven(value: unknown): boolean {
  return value !== '' && value !== undefined && value !== null;
}

export function assertKnown(entries: readonly [string, unknown][], known: readonly string[]): void {
  for (const [name] of entries) {
    if (known.includes(name)) continue;
    const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
    const near = hint(name, known);
    const list = known.length === 0 ? 'This call takes none in its query.' : `There are ${known.join(', ')}.`;
    const others = near === '' ? `. ${list}` : near;
    throw new DomainError('invalid_query', `There is no option "${shown}"${others}`);
  }
}

/** For calls whose options belong in the body. In the query they would be ignored silently. */
export function assertNoOptions(query: object): void {
  assertKnown(
    Object.entries(query).filter(([name, value]) => isOption(value) && name !== 'logs'),
    [],
  );
}

/** Returns the options of a submission as text, for comparison with another submission. */
export function writtenOptions(plain: object): string {
  const options = Object.entries(plain).filter(([name, value]) => isOption(value) && name !== 'logs');
  return options.length === 0 ? '' : `\n${JSON.stringify(options.sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('expected one text, once');
  if (!isStorable(value)) throw new Error('expected a text without NUL and without half a surrogate pair');
  return value;
}

function url(value: unknown): string {
  const written = text(value);
  if (
    written.length > maxUrlLength ||
    /[\0-\x20\x7f]/.test(written) ||
    !URL.canParse(written) ||
    !/^https?:$/.test(new URL(written).protocol)
  ) {
    throw new Error(`expected a URL with http or https, of at most ${maxUrlLength} characters`);
  }
  return written;
}

function priority(value: unknown): Priority {
  const found = priorities.find((one) => one === value);
  if (found === undefined) throw new Error(`expected one of ${priorities.join(', ')}`);
  return found;
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

function duration(value: unknown): number {
  return parseDuration(typeof value === 'number' ? String(value) : text(value));
}

function positive(value: unknown): number {
  const ms = duration(value);
  if (ms < 1) throw new Error('expected a duration of at least 1ms');
  return ms;
}

export function tagList(value: unknown): string[] {
  const list = [...new Set((Array.isArray(value) ? value.filter(isGiven) : [value]).map(tag))];
  if (list.length > maxTags) throw new Error(`expected at most ${maxTags}`);
  return list;
}

export function tag(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w.-]{1,64}:[\w.-]{1,64}$/.test(value)) {
    throw new Error(
      'expected key:value, each of 1 to 64 letters, digits, dots, underscores and hyphens, such as job:17',
    );
  }
  return value;
}

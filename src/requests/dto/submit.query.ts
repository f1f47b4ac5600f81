import { priorities, type Priority } from '../../auth/caller.js';
import { DomainError } from '../../errors/domain-error.js';
import { assertKnown, isGiven, isOption, Option } from '../../http/input/option.js';
import { validated } from '../../http/input/validated.js';
import { duration, oneOf, text, time } from '../../http/input/values.js';

const maxTags = 8;
const maxUrlLength = 2_048;

/** The options of a submission, from its query or from an entry of a batch. */
export class SubmitQuery {
  @Option('webhook', url, 'A URL that is called when the request completes.')
  webhook: string | undefined;

  @Option(
    'priority',
    oneOf(priorities),
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

/** Returns the options of a submission as text, for comparison with another submission. */
export function writtenOptions(plain: object): string {
  const options = Object.entries(plain).filter(([name, value]) => isOption(value) && name !== 'logs');
  return options.length === 0 ? '' : `\n${JSON.stringify(options.sort(([a], [b]) => (a < b ? -1 : 1)))}`;
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

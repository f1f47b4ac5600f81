import { priorities, type Priority } from '../../auth/caller.js';
import { DomainError } from '../../errors/domain-error.js';
import { assertKnown, givenIn, knownOptionsOf, Option, optionNames } from '../../http/input/option.js';
import { givenOptions } from '../../queue/submit/submission-options.js';
import { duration, oneOf, rule, text, time } from '../../tools/rules.js';

const maxUrlLength = 2_048;

export const webhookUrl = rule(text.schema, (value) => {
  const written = text.read(value);
  if (
    written.length > maxUrlLength ||
    /[\0-\x20\x7f]/.test(written) ||
    !URL.canParse(written) ||
    !/^https?:$/.test(new URL(written).protocol)
  ) {
    throw new Error(`expected a URL with http or https, of at most ${maxUrlLength} characters`);
  }
  return written;
});

const positive = rule(duration.schema, (value) => {
  const ms = duration.read(value);
  if (ms < 1) throw new Error('expected a duration of at least 1ms');
  return ms;
});

/** The options of a submission, from its query or an entry of a batch. `givenOptions` are added to it below. */
export class SubmitQuery {
  @Option(webhookUrl, 'A URL that is called when the request completes.')
  webhook: string | undefined;

  @Option(
    oneOf(priorities),
    '`high`, `normal` (the default) or `low`: requests of a higher priority are claimed before all others of ' +
      'the model.',
    'normal',
  )
  priority: Priority | undefined;

  @Option(
    time,
    'RFC 3339: the time at which the request joins the queue, at most 30 days ahead. Not together with `delay`.',
  )
  not_before: number | undefined;

  @Option(duration, 'A duration from now until the request joins the queue, such as `30s`, `10m` or `2h`.')
  delay: number | undefined;

  @Option(
    positive,
    'A duration. A request that waits for longer, over all attempts, ends as `expired`. It counts from the ' +
      'submission, or from the time at which a scheduled request is due, and is at most the model’s own value.',
  )
  expires: number | undefined;

  @Option(positive, 'A duration: the longest time that a run may take. It is at most the model’s own value.')
  timeout: number | undefined;
}

const properties = SubmitQuery.prototype as object as Record<string, unknown>;
for (const { name, rule: reads, description, example } of Object.values(givenOptions))
  Option(reads, description, example)(properties, name);

const names = optionNames(SubmitQuery);
export const noOptions: Readonly<SubmitQuery> = Object.freeze(new SubmitQuery());

/**
 * `plain`: texts, or arrays of texts for repeated parameters. Empty values count as absent, and `logs` is ignored. A
 * name that ends in `_webhook` means `webhook`, because client libraries add a prefix.
 */
export function submitOptions(plain: object): Readonly<SubmitQuery> {
  const entries = givenIn(plain).map(([name, value]): [string, unknown] => [
    name.endsWith('_webhook') ? 'webhook' : name,
    value,
  ]);
  if (entries.length === 0) return noOptions;
  assertKnown(entries, names);
  const options = Object.fromEntries(entries);
  if (Object.keys(options).length < entries.length) {
    throw new DomainError('invalid_query', 'The option "webhook" is there twice.');
  }
  return knownOptionsOf(SubmitQuery, options);
}

/** Returns the options of a submission as text, for comparison with another submission. */
export function writtenOptions(plain: object): string {
  const options = givenIn(plain);
  return options.length === 0 ? '' : `\n${JSON.stringify(options.sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

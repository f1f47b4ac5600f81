import type { Adapter } from '../../config/adapter.js';
import type { Rule } from '../../tools/rules.js';
import { maxTags, tags } from './tags.js';

/**
 * Optional fields of a stored request, which few submissions have. Each is a nullable column of `request`. The
 * statements, the rows and the API follow from the lists below. `SubmitQuery` reads the options of a call.
 */
export interface SubmissionOptions {
  timeoutMs?: number | undefined;
  /** A future time in ISO 8601. */
  notBefore?: string | undefined;
  /** `key:value`, of letters, digits, dots, underscores and hyphens. */
  tags?: readonly string[] | undefined;
  webhookUrl?: string | undefined;
  /** The URL that is called about its run, and the events that it gets; undefined: `request.started`. */
  startWebhookUrl?: string | undefined;
  runWebhookEvents?: readonly string[] | undefined;
  retryOf?: string | undefined;
  /** The adapter whose wire form it came in; undefined: the service's own form. */
  adapter?: Adapter | undefined;
  /** True: its caller asked for `expiresMs`. Otherwise it is the model's. */
  hasOwnExpiry?: boolean | undefined;
  /** Its trace, in the form of W3C Trace Context. */
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

export type SubmissionOption = keyof SubmissionOptions;

/** The type of each option's column. The column has the option's name in snake case. */
export const optionTypes: Readonly<
  Record<SubmissionOption, 'text' | 'text[]' | 'integer' | 'boolean' | 'uuid' | 'timestamptz'>
> = {
  timeoutMs: 'integer',
  notBefore: 'timestamptz',
  tags: 'text[]',
  webhookUrl: 'text',
  startWebhookUrl: 'text',
  runWebhookEvents: 'text[]',
  retryOf: 'uuid',
  adapter: 'text',
  hasOwnExpiry: 'boolean',
  traceparent: 'text',
  tracestate: 'text',
};

interface GivenOption {
  /** Its name in the query of a submission, and in an entry of a batch. */
  name: string;
  rule: Rule<unknown>;
  description: string;
  example: unknown;
}

/** Options that are stored as a submission gives them. `NewRequests` derives the others from a `SubmitQuery`. */
export const givenOptions: Readonly<Partial<Record<SubmissionOption, GivenOption>>> = {
  tags: {
    name: 'tag',
    rule: tags,
    description:
      '`key:value`, each of 1 to 64 letters, digits, dots, underscores and hyphens. May be repeated up to ' +
      `${maxTags} times.`,
    example: ['job:17'],
  },
};

/** Options that runs get, and how the API describes them in a run that a worker has claimed. */
export const runOptions = {
  traceparent: {
    description: 'The trace that the run belongs to, as in W3C Trace Context.',
    type: String,
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
  tracestate: { description: 'The `tracestate` of the trace.', type: String, example: 'vendor=1' },
} as const satisfies Partial<Record<SubmissionOption, object>>;

/** Options whose values an erasure deletes. */
export const erasedOptions: readonly SubmissionOption[] = ['traceparent', 'tracestate'];

/** The API uses the same name. */
export const columnOf = (option: string): string =>
  option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const givenNames = Object.entries(givenOptions).map(([option, { name }]) => [option, name] as const);

/** Returns the options that are stored as this query gives them. */
export const asGiven = (query: object): SubmissionOptions =>
  Object.fromEntries(givenNames.map(([option, name]) => [option, (query as Record<string, unknown>)[name]]));

type RunOption = keyof typeof runOptions;

/** The values for a run; null: its submission does not have the option. */
export type RunOptions = { readonly [Option in RunOption]: NonNullable<SubmissionOptions[Option]> | null };

export const runOptionNames = Object.keys(runOptions) as RunOption[];

/** SQL: the columns of these options. `prefix`: such as `request.`. */
export const runOptionColumns = (prefix = ''): string =>
  runOptionNames.map((option) => prefix + columnOf(option)).join(', ');

/** SQL: the same, named as in `RunOptions`. */
export const runOptionFields = (prefix = ''): string =>
  runOptionNames
    .map((option) => [columnOf(option), option])
    .map(([column, option]) => `${prefix}${column}${column === option ? '' : ` AS "${option}"`}`)
    .join(', ');

const noRunOptions = Object.fromEntries(runOptionNames.map((option) => [option, null])) as RunOptions;

/** Returns what a claim would read of these options. */
export function runOptionsOf(options: SubmissionOptions | undefined): RunOptions {
  if (options === undefined) return noRunOptions;
  const values: Record<string, unknown> = {};
  for (const option of runOptionNames) values[option] = options[option] ?? null;
  return values as RunOptions;
}

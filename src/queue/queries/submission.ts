import type { Adapter } from '../../config/adapter.js';
import { withJsonArray } from '../../database/binary-array.js';
import { parameters } from '../../database/statement.js';
import { textArray } from '../../database/text-array.js';

export interface Submission {
  id: string;
  modelId: string;
  keyId: string;
  priority: number;
  /** Its place in the order of its model and priority. */
  virtualStart: number;
  /** JSON in UTF-8, checked to be one value. */
  input: Buffer;
  /** From `notBefore` on, where that is given. */
  expiresMs: number | null;
  /** What URLs about it begin with; null: PUBLIC_BASE_URL. */
  baseUrl?: string | null;
  options?: SubmissionOptions | undefined;
}

/** What few submissions have. Each is a column of `request`. */
export interface SubmissionOptions {
  timeoutMs?: number | undefined;
  /** ISO 8601; still to come. */
  notBefore?: string | undefined;
  /** `key:value`, of letters, digits, dots, underscores and hyphens. */
  tags?: readonly string[] | undefined;
  webhookUrl?: string | undefined;
  retryOf?: string | undefined;
  /** Whose wire form it came in; undefined: the service's own. */
  adapter?: Adapter | undefined;
  /** Whether `expiresMs` is what its caller asked for, and not the model's. */
  hasOwnExpiry?: boolean | undefined;
  /** Its trace, as W3C Trace Context has it. */
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

/**
 * The one list of what a submission writes: column, type of the parameter, and the column's value if it is another.
 * A new field is a line here and a line in `Submission`.
 */
const columns: Readonly<
  Record<Exclude<keyof Submission, 'options'>, [name: string, type: string, value?: string]>
> = {
  id: ['id', 'uuid'],
  modelId: ['model_id', 'text'],
  keyId: ['api_key_id', 'uuid'],
  priority: ['priority', 'smallint'],
  virtualStart: ['virtual_start', 'bigint'],
  expiresMs: ['expires_at', 'float8', `now() + ? * interval '1 millisecond'`],
  baseUrl: ['base_url', 'text'],
  input: ['input', 'json'],
};

/** They come as one parameter, which most often is null. */
const optionColumns: Readonly<Record<keyof SubmissionOptions, [name: string, value: string]>> = {
  timeoutMs: ['timeout_ms', `(? ->> 'timeoutMs')::integer`],
  notBefore: ['not_before', `(? ->> 'notBefore')::timestamptz`],
  tags: ['tags', `(? ->> 'tags')::text[]`],
  webhookUrl: ['webhook_url', `? ->> 'webhookUrl'`],
  retryOf: ['retry_of', `(? ->> 'retryOf')::uuid`],
  adapter: ['adapter', `? ->> 'adapter'`],
  hasOwnExpiry: ['has_own_expiry', `(? ->> 'hasOwnExpiry')::boolean`],
  traceparent: ['traceparent', `? ->> 'traceparent'`],
  tracestate: ['tracestate', `? ->> 'tracestate'`],
};

type Field = keyof Submission;
const columnFields = Object.keys(columns) as (keyof typeof columns)[];
const fields: readonly Field[] = [...columnFields, 'options'];

const nameOf = (field: Field): string => (field === 'options' ? field : columns[field][0]);
const typeOf = (field: Field): string => (field === 'options' ? 'json' : columns[field][1]);
const typesOf = (array: string): Record<Field, string> =>
  Object.fromEntries(fields.map((field) => [field, typeOf(field) + array])) as Record<Field, string>;

/** Types of the parameters of a statement that writes one; its own follow them. */
export const submissionTypes = typesOf('');
const { placeholders: one } = parameters(submissionTypes);

/** The values of such a statement's parameters, by their names. */
export const valuesOf = (submission: Submission): Record<Field, unknown> => ({
  baseUrl: null,
  ...submission,
  options: optionsText(submission),
});

function optionsText({ options }: Submission): string | null {
  if (options === undefined) return null;
  return JSON.stringify({ ...options, tags: options.tags && `{${options.tags.join()}}` });
}

/** As `submissionTypes`, of a statement that writes any number: an array each. */
export const manyTypes = typesOf('[]');
const { placeholders: many } = parameters(manyTypes);

/** Inserts rows into `request`; `more` are columns of one statement alone. */
function insertRequest(
  valueOf: (field: Field) => string,
  from: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const values = columnFields.map((field) => {
    const [name, , value = '?'] = columns[field];
    return [name, value.replace('?', () => valueOf(field))];
  });
  const options = Object.values(optionColumns).map(([name, value]) => [
    name,
    value.replace('?', () => valueOf('options')),
  ]);
  const all = [...values, ...options, ['seq', `nextval('request_seq')`], ...Object.entries(more)];
  return `INSERT INTO request (${all.map(([name]) => name).join(', ')})
  SELECT ${all.map(([, value]) => value).join(', ')}
  ${from}`;
}

/** One, from the statement's first parameters; `from`: a row of this CTE must be there. */
export const insertOne = (from: string, more: Readonly<Record<string, string>>): string =>
  insertRequest((field) => one[field], `FROM ${from}`, more);

/** As many as the arrays hold; `where` may choose among them, as `incoming`. */
export const insertMany = (where = ''): string =>
  insertRequest(
    (field) => `incoming.${nameOf(field)}`,
    `FROM unnest(${fields.map((field) => many[field]).join(', ')})
    AS incoming (${fields.map(nameOf).join(', ')})
  ${where}`,
  );

/** What a submission had written, once more, from a CTE with its row; `changed`: columns that are others now. */
export function insertCopy(from: string, changed: Readonly<Record<string, string>>, where: string): string {
  const names = [...Object.values(columns), ...Object.values(optionColumns)].map(([name]) => name);
  const values = names.map((name) => changed[name] ?? `${from}.${name}`);
  return `INSERT INTO request (${names.join(', ')}, seq)
  SELECT ${values.join(', ')}, nextval('request_seq')
  FROM ${from}
  ${where}`;
}

/** Hands the values of such a statement's first parameters to what runs it. */
export function withBound<T>(
  items: readonly Submission[],
  run: (values: unknown[]) => Promise<T>,
): Promise<T> {
  const arrayOf = (field: Exclude<Field, 'input'>): string =>
    textArray(items.map((item) => (field === 'options' ? optionsText(item) : (item[field] ?? null))));
  return withJsonArray(
    items.map(({ input }) => input),
    (inputs) => run(fields.map((field) => (field === 'input' ? inputs : arrayOf(field)))),
  );
}

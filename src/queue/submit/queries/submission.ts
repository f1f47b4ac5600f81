import { withJsonArray } from '../../../database/binary-array.js';
import { parameters } from '../../../database/statement.js';
import { textArray } from '../../../database/text-array.js';
import { columnOf, optionTypes, type SubmissionOptions } from '../submission-options.js';

export interface Submission {
  id: string;
  modelId: string;
  keyId: string;
  priority: number;
  /** Its place in the order of its model and priority. */
  virtualStart: number;
  /** JSON in UTF-8, checked to be one value. */
  input: Buffer;
  /** Milliseconds from the submission on, including the wait until `notBefore`; null: it never expires. */
  expiresMs: number | null;
  /** The beginning of URLs about it. null: none was recorded, as in 1.0.0 with PUBLIC_BASE_URL. */
  baseUrl?: string | null;
  options?: SubmissionOptions | undefined;
}

/**
 * What every submission writes: column, type of the parameter, and the column's value if it is another. A new field is
 * a line here and a line in `Submission`.
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

/** All options come as one parameter, which mostly is null. */
const optionColumns = Object.entries(optionTypes).map(([option, type]): [name: string, value: string] => {
  const value = `? ->> '${option}'`;
  return [columnOf(option), type === 'text' ? value : `(${value})::${type}`];
});

type Field = keyof Submission;
const columnFields = Object.keys(columns) as (keyof typeof columns)[];
const fields: readonly Field[] = [...columnFields, 'options'];

const nameOf = (field: Field): string => (field === 'options' ? field : columns[field][0]);
const typeOf = (field: Field): string => (field === 'options' ? 'json' : columns[field][1]);
const typesOf = (array: string): Record<Field, string> =>
  Object.fromEntries(fields.map((field) => [field, typeOf(field) + array])) as Record<Field, string>;

/** Types of the parameters of a statement that writes one submission. The statement's own parameters follow them. */
export const submissionTypes = typesOf('');
const { placeholders: one } = parameters(submissionTypes);

/** Returns the values of these parameters, by their names. */
export const valuesOf = (submission: Submission): Record<Field, unknown> => ({
  baseUrl: null,
  ...submission,
  options: optionsText(submission),
});

const listOptions = Object.entries(optionTypes).flatMap(([option, type]) =>
  type === 'text[]' ? option : [],
);

function optionsText({ options }: Submission): string | null {
  if (options === undefined) return null;
  const written: Record<string, unknown> = { ...options };
  for (const option of listOptions) {
    const texts = written[option];
    if (Array.isArray(texts)) written[option] = `{${texts.join()}}`;
  }
  return JSON.stringify(written);
}

/** The same for a statement that writes any number of submissions: each type is an array. */
export const manyTypes = typesOf('[]');
const { placeholders: many } = parameters(manyTypes);

/** Inserts rows into `request`; `more` are columns that only one statement has. */
function insertRequest(
  valueOf: (field: Field) => string,
  from: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const values = columnFields.map((field) => {
    const [name, , value = '?'] = columns[field];
    return [name, value.replace('?', () => valueOf(field))];
  });
  const options = optionColumns.map(([name, value]) => [name, value.replace('?', () => valueOf('options'))]);
  const all = [...values, ...options, ['seq', `nextval('request_seq')`], ...Object.entries(more)];
  return `INSERT INTO request (${all.map(([name]) => name).join(', ')})
  SELECT ${all.map(([, value]) => value).join(', ')}
  ${from}`;
}

/** Inserts one row from the statement's first parameters, if the CTE `from` has a row. */
export const insertOne = (from: string, more: Readonly<Record<string, string>>): string =>
  insertRequest((field) => one[field], `FROM ${from}`, more);

/** Inserts as many rows as the arrays hold; `where` may choose among them, as `incoming`. */
export const insertMany = (where = ''): string =>
  insertRequest(
    (field) => `incoming.${nameOf(field)}`,
    `FROM unnest(${fields.map((field) => many[field]).join(', ')})
    AS incoming (${fields.map(nameOf).join(', ')})
  ${where}`,
  );

/** Writes again what a submission wrote, from a CTE with its row; `changed`: columns with other values. */
export function insertCopy(from: string, changed: Readonly<Record<string, string>>, where: string): string {
  const names = [...Object.values(columns), ...optionColumns].map(([name]) => name);
  const values = names.map((name) => changed[name] ?? `${from}.${name}`);
  return `INSERT INTO request (${names.join(', ')}, seq)
  SELECT ${values.join(', ')}, nextval('request_seq')
  FROM ${from}
  ${where}`;
}

/** Passes the values of the first parameters of such a statement to `run`. */
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

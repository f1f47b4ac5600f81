import { parameters } from '../../database/statement.js';

export interface Submission {
  id: string;
  modelId: string;
  keyId: string;
  priority: number;
  /** JSON in UTF-8, checked to be one value. */
  input: Buffer;
  expiresMs: number | null;
}

/**
 * The one list of what a submission writes: column, type of the parameter, and the column's value if it is another.
 * A new field is a line here and a line in `Submission`.
 */
const columns: Readonly<Record<keyof Submission, [name: string, type: string, value?: string]>> = {
  id: ['id', 'uuid'],
  modelId: ['model_id', 'text'],
  keyId: ['api_key_id', 'uuid'],
  priority: ['priority', 'smallint'],
  expiresMs: ['expires_at', 'float8', `now() + ? * interval '1 millisecond'`],
  // The last one, because it is in the statement for many.
  input: ['input', 'json'],
};

const fields = Object.keys(columns) as (keyof Submission)[];
/** All but the input have an array of their own: as elements of one JSON array inputs need no escape. */
const arrayFields = fields.filter((field) => field !== 'input');

const typesOf = (array: string): Record<keyof Submission, string> =>
  Object.fromEntries(
    fields.map((field) => [field, columns[field][1] + (field === 'input' ? '' : array)]),
  ) as Record<keyof Submission, string>;

/** Types of the parameters of a statement that writes one; its own follow them. */
export const submissionTypes = typesOf('');
const { placeholders: one } = parameters(submissionTypes);
const { placeholders: many } = parameters(typesOf('[]'));

/** Inserts rows into `request`; `more` are columns of one statement alone. */
function insertRequest(
  valueOf: (field: keyof Submission) => string,
  from: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const values = fields.map((field) => {
    const [name, , value = '?'] = columns[field];
    return [name, value.replace('?', () => valueOf(field))];
  });
  const all = [...values, ['seq', `nextval('request_seq')`], ...Object.entries(more)];
  return `INSERT INTO request (${all.map(([name]) => name).join(', ')})
  SELECT ${all.map(([, value]) => value).join(', ')}
  ${from}`;
}

/** One, from the statement's first parameters; `from`: a row of this CTE must be there. */
export const insertOne = (from?: string, more?: Readonly<Record<string, string>>): string =>
  insertRequest((field) => one[field], from === undefined ? '' : `FROM ${from}`, more);

/** As many as the arrays hold. */
export const insertMany = insertRequest(
  (field) => `incoming.${columns[field][0]}`,
  `FROM ROWS FROM (
    unnest(${arrayFields.map((field) => many[field]).join(', ')}),
    json_array_elements(${many.input})
  ) AS incoming (${fields.map((field) => columns[field][0]).join(', ')})`,
);

/** `inputs`: those of the items as one JSON array. */
export function bindMany(items: readonly Submission[], inputs: Buffer): unknown[] {
  return [...arrayFields.map((field) => arrayText(items.map((item) => item[field]))), inputs];
}

/** An array parameter as text; pg would build it in several steps for each element. */
const arrayText = (values: readonly (string | number | Buffer | null)[]): string =>
  `{${values.map((value) => (typeof value === 'string' ? quoted(value) : (value ?? 'NULL'))).join()}}`;
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

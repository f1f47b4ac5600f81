import { parameters } from '../../database/parameters.js';

export interface Submission {
  id: string;
  modelId: string;
  keyId: string;
  priority: number;
  /** JSON in UTF-8, checked to be one value. */
  input: Buffer;
  expiresMs: number | null;
}

interface SubmissionColumn {
  /** In `request`. */
  name: string;
  /** Of the parameter. */
  type: string;
  /** The column's value from the parameter's; default: the same. */
  value?: (parameter: string) => string;
}

/** The one list of what a submission writes: a new field is a line here and a line in `Submission`. */
const columns: Readonly<Record<keyof Submission, SubmissionColumn>> = {
  id: { name: 'id', type: 'uuid' },
  modelId: { name: 'model_id', type: 'text' },
  keyId: { name: 'api_key_id', type: 'uuid' },
  priority: { name: 'priority', type: 'smallint' },
  expiresMs: {
    name: 'expires_at',
    type: 'float8',
    value: (ms) => `now() + ${ms} * interval '1 millisecond'`,
  },
  // The last one, because it is in the statement for many.
  input: { name: 'input', type: 'json' },
};

const fields = Object.keys(columns) as (keyof Submission)[];

/** Types of the parameters of a statement that writes one; its own follow them. */
export const submissionTypes = Object.fromEntries(
  fields.map((field) => [field, columns[field].type]),
) as Record<keyof Submission, string>;

/** All but the input have an array of their own: as elements of one JSON array inputs need no escape. */
const arrayFields = fields.filter((field) => field !== 'input');
const arrayTypes = Object.fromEntries(
  fields.map((field) => [field, field === 'input' ? 'json' : `${columns[field].type}[]`]),
) as Record<keyof Submission, string>;

const { placeholders: one } = parameters(submissionTypes);
const { placeholders: many } = parameters(arrayTypes);

/** Inserts rows into `request`; `rows` puts the values where they belong, `more` are columns of one statement alone. */
function insertRequest(
  valueOf: (field: keyof Submission) => string,
  rows: (values: string) => string,
  more: Readonly<Record<string, string>>,
): string {
  const values = fields.map((field) => [
    columns[field].name,
    (columns[field].value ?? ((same) => same))(valueOf(field)),
  ]);
  const all = [...values, ['seq', `nextval('request_seq')`], ...Object.entries(more)];
  return `INSERT INTO request (${all.map(([name]) => name).join(', ')})
  ${rows(all.map(([, value]) => value).join(', '))}`;
}

/** One, from the statement's first parameters; `from`: a row of this CTE must be there. */
export const insertOne = (from?: string, more: Readonly<Record<string, string>> = {}): string =>
  insertRequest(
    (field) => one[field],
    (values) => (from === undefined ? `VALUES (${values})` : `SELECT ${values}\n  FROM ${from}`),
    more,
  );

/** As many as the arrays hold. */
export const insertMany = insertRequest(
  (field) => `incoming.${columns[field].name}`,
  (values) => `SELECT ${values}
  FROM ROWS FROM (
    unnest(${arrayFields.map((field) => many[field]).join(', ')}),
    json_array_elements(${many.input})
  ) AS incoming (${fields.map((field) => columns[field].name).join(', ')})`,
  {},
);

/** `inputs`: those of the items as one JSON array. */
export function bindMany(items: readonly Submission[], inputs: Buffer): unknown[] {
  return [...arrayFields.map((field) => arrayText(items.map((item) => item[field]))), inputs];
}

/** An array parameter as text; pg would build it in several steps for each element. */
function arrayText(values: readonly (string | number | Buffer | null)[]): string {
  return `{${values.map((value) => (typeof value === 'string' ? quoted(value) : (value ?? 'NULL'))).join()}}`;
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

/** What `written` returns for `intoQueue`. */
export const returningEntry = `RETURNING id, model_id, priority, seq, expires_at`;
export const intoQueue = `INSERT INTO queue_entry (model_id, priority, seq, request_id, expires_at)
  SELECT model_id, priority, seq, id, expires_at
  FROM written`;

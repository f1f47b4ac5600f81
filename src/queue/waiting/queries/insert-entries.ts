/** The columns that `queue_entry` and `delayed_entry` have in common. */
const columns = [
  'model_id',
  'priority',
  'virtual_start',
  'seq',
  'request_id',
  'api_key_id',
  'attempt',
  'expires_at',
  'bounded_key_id',
] as const;

/** undefined: the column's default. */
type Values = Partial<Record<(typeof columns)[number] | 'ready_at' | 'is_scheduled', string | undefined>>;

/**
 * Inserts an entry for each row of the CTE `from`. `values`: columns with another value than the row's column of the
 * same name, and those that only `delayed_entry` has.
 */
export function insertEntries(
  table: 'queue_entry' | 'delayed_entry',
  from: string,
  values: Values = {},
): string {
  const own = Object.fromEntries(columns.map((column) => [column, column]));
  const all = Object.entries({ ...own, ...values }).filter(([, value]) => value !== undefined);
  return `INSERT INTO ${table} (${all.map(([column]) => column).join(', ')})
  SELECT ${all.map(([, value]) => value).join(', ')}
  FROM ${from}`;
}

/** An entry from a row of `request`. */
export const ofRequest: Values = { request_id: 'id' };

/** An entry that waits until its key is below its bound. */
export const held: Values = { bounded_key_id: 'api_key_id', ready_at: `'infinity'` };

export type Value = string | number | null | Buffer | (string | number | null | Buffer)[];

/** A fingerprint; other bytes are JSON, or an array in binary format, which begins with its number of dimensions. */
export const sha256Bytes = 32;

/** A parameter's value as SQL can say it in EXECUTE. */
export function literal(value: Value): string {
  if (value === null) return 'NULL';
  // The plan is the same for all values, and the memory of an array may be that of another by now.
  if (Buffer.isBuffer(value) && value[0] === 0) return `'{}'`;
  if (Buffer.isBuffer(value) && value.length === sha256Bytes) return `'\\x${value.toString('hex')}'`;
  const text = Array.isArray(value) ? `{${value.map(element).join(',')}}` : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

function element(item: string | number | null | Buffer): string {
  if (Buffer.isBuffer(item)) return `"\\\\x${item.toString('hex')}"`;
  return item === null ? 'NULL' : JSON.stringify(String(item));
}

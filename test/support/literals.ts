export type Value = string | number | null | Buffer | (string | number | null | Buffer)[];

/**
 * Bytes of a fingerprint. Other Buffers are JSON, or arrays in binary format, which begin with their number of
 * dimensions.
 */
export const sha256Bytes = 32;

/** Returns a parameter's value as a literal for EXECUTE. */
export function literal(value: Value): string {
  if (value === null) return 'NULL';
  // The plan is the same for all values, and the array's memory may have been reused by now.
  if (Buffer.isBuffer(value) && value[0] === 0) return `'{}'`;
  if (Buffer.isBuffer(value) && value.length === sha256Bytes) return `'\\x${value.toString('hex')}'`;
  const text = Array.isArray(value) ? `{${value.map(element).join(',')}}` : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

function element(item: string | number | null | Buffer): string {
  if (Buffer.isBuffer(item)) return `"\\\\x${item.toString('hex')}"`;
  return item === null ? 'NULL' : JSON.stringify(String(item));
}

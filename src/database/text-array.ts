/**
 * Returns an array parameter as text. The elements must already be in PostgreSQL's format. pg would build each one in
 * several steps.
 */
export const textArray = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => (typeof value === 'string' ? quoted(value) : (value ?? 'NULL'))).join()}}`;

/** Returns a parameter of type `bytea[]` from hexadecimal digits. */
export const byteaArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"\\\\x${text}"`).join()}}`;

const quoted = (text: string): string => `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;

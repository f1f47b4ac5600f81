/** An array parameter as text, of elements as PostgreSQL reads them; pg would build it in several steps for each. */
export const textArray = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => (typeof value === 'string' ? quoted(value) : (value ?? 'NULL'))).join()}}`;

/** For a parameter of type `bytea[]`, from hexadecimal digits. */
export const byteaArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"\\\\x${text}"`).join()}}`;

const quoted = (text: string): string => `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;

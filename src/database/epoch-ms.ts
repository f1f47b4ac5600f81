/** SQL: a time in milliseconds since 1970. */
export const epochMs = (time: string): string => `extract(epoch FROM ${time})::float8 * 1000`;

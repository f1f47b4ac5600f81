import { isDeeperThan } from './json-scanner.js';

/** PostgreSQL's JSON parser recurses and gives up at a few thousand levels; far above what a model means. */
export const maxModelDepth = 1_000;

/** A text as a JSON value; undefined: it is not JSON, or nested too deeply to be stored. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeperThan(text, maxModelDepth) ? undefined : { value };
  } catch {
    return undefined;
  }
}

/** What a model said, as text that PostgreSQL can hold: no NUL, no lone surrogates, not longer than asked. */
export function cleanText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
  return cut.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
}

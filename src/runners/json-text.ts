import { isDeeperThan } from '../tools/json-scanner.js';

/** PostgreSQL's JSON parser recurses and gives up at a few thousand levels; far above what a model means. */
const maxDepth = 1_000;

/** A text as a JSON value; undefined: it is not JSON, or nested too deeply to be stored. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeperThan(text, maxDepth) ? undefined : { value };
  } catch {
    return undefined;
  }
}

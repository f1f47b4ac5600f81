// Relies on an inside of pg: a Query is prepared under the name that it carries, which its types do not know.
import pg from 'pg';

/**
 * A query prepared under `name`, or not prepared if that is undefined. Not made as a configuration: pg copies one
 * property by property for each query, which takes longer than the rest.
 */
export function namedQuery(
  name: string | undefined,
  text: string,
  values: unknown[],
  done: (error: Error | undefined, result: pg.QueryResult<object>) => void,
): pg.Submittable {
  const query = new pg.Query<object>(text, values, done);
  return name === undefined ? query : Object.assign(query, { name });
}

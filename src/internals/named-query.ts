// Relies on a pg internal: a Query is prepared under its `name` property, which its types do not include.
import pg from 'pg';

/**
 * Returns a query prepared under `name`, or unprepared if `name` is undefined. It is not made from a configuration
 * object, because pg copies such an object property by property for each query. That takes longer than the rest.
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

// Relies on insides of pg: a Query writes itself to its connection by `prepare`, which ends with `_getRows`, which ends
// with a Sync; and it keeps a result for each statement that answers it.
import type pg from 'pg';

interface Connection {
  execute(portal: object): void;
}

interface Insides {
  portal: string;
  queryMode: string;
  prepare(connection: Connection): void;
  _getRows(connection: Connection): void;
}

/**
 * Queries made by `namedQuery`, as one: PostgreSQL runs what comes before a Sync in one transaction, each statement with
 * a snapshot of its own. The last one is called back, with the results of all.
 */
export function inOneTransaction(queries: readonly pg.Submittable[]): pg.Submittable {
  const last = queries.at(-1)!;
  const insides = last as unknown as Insides;
  // Or one without values and a name would be sent as a text, past `prepare`.
  insides.queryMode = 'extended';
  const prepareLast = insides.prepare.bind(last);
  insides.prepare = (connection) => {
    for (const query of queries.slice(0, -1) as unknown as Insides[]) {
      query._getRows = () => connection.execute({ portal: query.portal });
      query.prepare(connection);
    }
    prepareLast(connection);
  };
  return last;
}

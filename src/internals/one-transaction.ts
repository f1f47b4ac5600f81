// Relies on pg internals: a Query writes itself to its connection with `prepare`, which ends with `_getRows`, which
// ends with a Sync. It also keeps a result for each statement that is answered.
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
 * Combines queries made by `namedQuery` into one. PostgreSQL runs everything before a Sync in one transaction, each
 * statement with its own snapshot. The callback of the last query receives the results of all.
 */
export function inOneTransaction(queries: readonly pg.Submittable[]): pg.Submittable {
  const last = queries.at(-1)!;
  const insides = last as unknown as Insides;
  // Otherwise a query without values and name would be sent as plain text, without `prepare`.
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

// Relies on insides of pg: a Query writes itself to its connection by `prepare`, which ends with `_getRows`, which ends
// with a Sync; and it keeps a result for each statement that answers it, told of its end by `handleCommandComplete`.
import type pg from 'pg';

interface Connection {
  execute(portal: object): void;
  flush(): void;
  sync(): void;
}

interface Insides {
  portal: string;
  queryMode: string;
  prepare(connection: Connection): void;
  _getRows(connection: Connection): void;
  handleCommandComplete(message: object, connection: Connection): void;
  _results: pg.QueryResult<object> | pg.QueryResult<object>[];
}

/**
 * Queries made by `namedQuery`, as one: PostgreSQL runs what comes before a Sync in one transaction, each statement with
 * a snapshot of its own. The last one is called back once it is committed, with the results of all; `onRows`, before.
 */
export function inOneTransaction(
  queries: readonly pg.Submittable[],
  onRows?: (rows: object[]) => void,
): pg.Submittable {
  const last = queries.at(-1)!;
  const insides = last as unknown as Insides;
  // Or one without values and a name would be sent as a text, past `prepare`.
  insides.queryMode = 'extended';
  if (onRows !== undefined) sayRows(insides, queries.length, onRows);
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

/** The rows of the last are asked for before its commit: PostgreSQL would send them with the answer to the Sync. */
function sayRows(last: Insides, statements: number, onRows: (rows: object[]) => void): void {
  const complete = last.handleCommandComplete.bind(last);
  let completed = 0;
  last.handleCommandComplete = (message, connection) => {
    complete(message, connection);
    if (++completed === statements) onRows([last._results].flat().at(-1)!.rows);
  };
  last._getRows = (connection) => {
    connection.execute({ portal: last.portal });
    connection.flush();
    connection.sync();
  };
}

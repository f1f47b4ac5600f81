/** One hot statement: it is prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What runs statements, each in a transaction of its own. */
export interface Queries {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
}

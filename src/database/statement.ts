/** One hot statement: it is prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A statement whose text is made at its first use, from what the rooms have registered at their start, and kept. */
export function lazyStatement(name: string, build: () => string): Statement {
  let built: string | undefined;
  return {
    name,
    get text() {
      return (built ??= build());
    },
  };
}

/** What runs statements, each in a transaction of its own. */
export interface Queries {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
}

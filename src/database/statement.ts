/** A hot statement, prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The name under which it is prepared, if that is not `name`; empty: it is planned at each call. */
  readonly preparedAs?: string;
}

/**
 * Takes the text as a template after the name. Functions in it are called at the first use of the statement, and their
 * results are kept. They may depend on what the modules registered at their start.
 */
export function statement(
  name: string,
): (texts: TemplateStringsArray, ...parts: (string | (() => string))[]) => Statement {
  return (raw, ...parts) => {
    let built: string | undefined;
    return {
      name,
      get text() {
        const made = (): string[] => parts.map((part) => (typeof part === 'string' ? part : part()));
        return (built ??= String.raw({ raw }, ...made()));
      },
    };
  };
}

/** Runs statements, each in its own transaction. */
export interface Queries {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
}

/** Returns the values of these fields in all rows, an array for each field, as `unnest` takes them. */
export const columnsOf = <Row, Field extends keyof Row>(
  rows: readonly Row[],
  ...fields: Field[]
): Row[Field][][] => fields.map((field) => rows.map((row) => row[field]));

/**
 * The named placeholders of one statement, such as `$1::uuid`, in the order of their types. `bind` puts values in that
 * order. Other members of the object are not sent.
 */
export function parameters<Name extends string>(
  types: Readonly<Record<Name, string>>,
): { placeholders: Record<Name, string>; bind(values: Readonly<Record<Name, unknown>>): unknown[] } {
  const names = Object.keys(types) as Name[];
  const placeholders = names.map((name, i): [Name, string] => [name, `$${i + 1}::${types[name]}`]);
  return {
    placeholders: Object.fromEntries(placeholders) as Record<Name, string>,
    bind: (values) => names.map((name) => values[name]),
  };
}

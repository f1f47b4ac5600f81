/** One hot statement: it is prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * The text follows the name as a template. What a function in it returns is made at the first use of the statement,
 * from what the rooms have registered at their start, and kept.
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

/** What runs statements, each in a transaction of its own. */
export interface Queries {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
}

/**
 * The placeholders of one statement by name, as `$1::uuid`, in the order in which they are listed with their types.
 * `bind` puts values in that order; what else the object holds is not sent.
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

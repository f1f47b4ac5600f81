/** The placeholders of one statement, by name, and its values in their order. */
export interface Parameters<Name extends string> {
  /** `$1::uuid` */
  readonly placeholders: Readonly<Record<Name, string>>;
  /** What else the object holds is not sent. */
  bind(values: Readonly<Record<Name, unknown>>): unknown[];
}

/** Numbers placeholders in the order in which they are listed with their types. */
export function parameters<Name extends string>(types: Readonly<Record<Name, string>>): Parameters<Name> {
  const names = Object.keys(types) as Name[];
  const placeholders = names.map((name, i): [Name, string] => [name, `$${i + 1}::${types[name]}`]);
  return {
    placeholders: Object.fromEntries(placeholders) as Record<Name, string>,
    bind: (values) => names.map((name) => values[name]),
  };
}

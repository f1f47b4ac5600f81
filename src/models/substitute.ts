export type Environment = Readonly<Record<string, string | undefined>>;

/** Puts the environment's values in for `${NAME}`. Throws with the names that are not set, never with values. */
export function substitute(text: string, environment: Environment): string {
  const missing: string[] = [];
  const result = text.replaceAll(/\$\{([^}]*)(\}?)/g, (_, name: string, end: string) => {
    if (end === '' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new Error('expected a variable written as ${NAME}');
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value === undefined || value === '') missing.push(name);
    return value ?? '';
  });
  if (missing.length > 0) {
    throw new Error(`the environment variable ${[...new Set(missing)].join(', ')} is not set`);
  }
  return result;
}

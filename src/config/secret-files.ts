import { readFileSync } from 'node:fs';
import { secretVariables } from '../tools/redaction.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the value of a variable, or the content of the file that `NAME_FILE` names. undefined: neither is set. An error
 * begins with the name of the variable to change, and never shows a value.
 */
export function valueOrFile(name: string, environment: Environment): string | undefined {
  const own = (key: string): string | undefined =>
    (Object.hasOwn(environment, key) && environment[key]) || undefined;
  const variable = `${name}_FILE`;
  const [value, file] = [own(name), own(variable)?.trim()];
  // A variable that was set from a file may have its line end, which no header can have.
  if (!file) return value?.replace(/[\r\n]+$/, '') || undefined;
  if (value?.trim()) throw new Error(`${variable}: set ${name} or ${variable}, not both`);
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    throw new Error(`${variable}: the file that it names cannot be read (${code})`, { cause });
  }
  if (content === '') throw new Error(`${variable}: the file that it names is empty`);
  return content;
}

/** Passes variables on to libraries, which read the process's own environment and so do not see what is in files. */
export function passToLibraries(names: readonly string[], environment: Environment): void {
  for (const name of names) if (environment[name] !== undefined) process.env[name] = environment[name];
}

/**
 * Returns the environment with the secrets that are in files in place of the names of these files, and a line for each
 * file that cannot be used.
 */
export function withSecretFiles(environment: Environment): { environment: Environment; faults: string[] } {
  const result = { ...environment };
  const faults: string[] = [];
  for (const name of secretVariables) {
    if (!environment[`${name}_FILE`]?.trim()) continue;
    delete result[`${name}_FILE`];
    try {
      result[name] = valueOrFile(name, environment);
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  return { environment: result, faults };
}

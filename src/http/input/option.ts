import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { DomainError } from '../../errors/domain-error.js';
import { hint } from '../../tools/closest.js';
import { allOf, Parsed } from '../../tools/validation.js';
import { problem, validated } from './validated.js';

/** A query parameter, or a member of a body. `parse` throws an error that says what is accepted. */
export function Option(
  name: string,
  parse: (value: unknown) => unknown,
  description: string,
  example?: unknown,
  more: ApiPropertyOptions = {},
): PropertyDecorator {
  return allOf(
    Parsed((value: unknown) => {
      try {
        return parse(value);
      } catch (error) {
        throw new Error(`The option "${name}": ${(error as Error).message}.`, { cause: error });
      }
    }, problem('invalid_query')),
    ApiPropertyOptional({ type: String, description, ...(example !== undefined && { example }), ...more }),
  );
}

/** Checks options by the rules of a class. Empty values count as absent. */
export function optionsOf<T extends object>(
  type: new () => T,
  plain: object,
  known: readonly string[],
): Readonly<T> {
  const entries = Object.entries(plain).filter(([, value]) => isOption(value));
  assertKnown(entries, known);
  return validated(type, Object.fromEntries(entries));
}

/** An option also counts as absent if it is a list of only empty values. */
export function isOption(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isGiven) : isGiven(value);
}

/** Empty values of a query count as absent, and null in JSON too. */
export function isGiven(value: unknown): boolean {
  return value !== '' && value !== undefined && value !== null;
}

export function assertKnown(entries: readonly [string, unknown][], known: readonly string[]): void {
  for (const [name] of entries) {
    if (known.includes(name)) continue;
    const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
    const near = hint(name, known);
    const list = known.length === 0 ? 'This call takes none in its query.' : `There are ${known.join(', ')}.`;
    const others = near === '' ? `. ${list}` : near;
    throw new DomainError('invalid_query', `There is no option "${shown}"${others}`);
  }
}

/** For calls whose options belong in the body. In the query they would be ignored silently. */
export function assertNoOptions(query: object): void {
  assertKnown(
    Object.entries(query).filter(([name, value]) => isOption(value) && name !== 'logs'),
    [],
  );
}

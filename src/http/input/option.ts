import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { hint } from '../../tools/closest.js';
import type { Class } from '../../tools/validation.js';
import { isGiven, Refusal, refusalAt, type Rule } from '../../tools/rules.js';

/** Decorates a property whose type holds what the rule reads. */
type PropertyOf<T> = <Name extends string>(target: { [name in Name]?: T }, property: Name) => void;

interface RuledProperty {
  name: string;
  /** The name in messages. */
  shown: string;
  read: (value: unknown) => unknown;
  isRequired: boolean;
}

const ruled = Symbol('ruled');

/** A query parameter, or a member of a body: how it is read, and how the API description shows it. */
export function Option<T>(
  rule: Rule<T>,
  description: string,
  example?: unknown,
  more: ApiPropertyOptions = {},
): PropertyOf<T> {
  return (target, name) =>
    describeProperty(
      target,
      { name, shown: name, read: rule.read, isRequired: more.required === true },
      {
        type: rule.schema['type'],
        description,
        ...(example !== undefined && { example }),
        ...rule.schema,
        ...more,
      },
    );
}

/** An option without which a call is refused. */
export const RequiredOption = <T>(rule: Rule<T>, description: string, example?: unknown): PropertyOf<T> =>
  Option(rule, description, example, { required: true });

/** A header field of a call. The property has its name in lower case. */
export function HeaderField<T>(name: string, rule: Rule<T>, more: ApiPropertyOptions): PropertyOf<T> {
  return (target, property) =>
    describeProperty(
      target,
      { name: property, shown: name, read: rule.read, isRequired: false },
      {
        name,
        ...rule.schema,
        ...more,
      },
    );
}

function describeProperty(target: object, property: RuledProperty, options: object): void {
  const others = propertiesOf(target).filter(({ name }) => name !== property.name);
  Reflect.defineMetadata(ruled, [...others, property], target);
  ApiProperty({ ...options, required: property.isRequired })(target, property.name);
}

const propertiesOf = (prototype: object): readonly RuledProperty[] =>
  (Reflect.getMetadata(ruled, prototype) as RuledProperty[] | undefined) ?? [];

export const optionNames = (type: Class<object>): string[] =>
  propertiesOf(type.prototype as object).map(({ name }) => name);

/** Reads the properties that have a rule. Throws a `Refusal` of the first that breaks it. */
export function readRuled<T extends object>(type: Class<T>, plain: object): T {
  const instance = new type();
  const [from, to] = [plain as Record<string, unknown>, instance as Record<string, unknown>];
  for (const { name, shown, read, isRequired } of propertiesOf(type.prototype as object)) {
    const value = from[name];
    if (value === undefined && !isRequired) continue;
    try {
      to[name] = read(value);
    } catch (error) {
      throw refusalAt(shown, error);
    }
  }
  return instance;
}

/** Answers a value that breaks its rule with this code. */
export function read<T extends object>(type: Class<T>, plain: object, code: ProblemCode, noun = 'option'): T {
  try {
    return readRuled(type, plain);
  } catch (error) {
    if (error instanceof Refusal)
      throw new DomainError(code, `The ${noun} "${error.path}": ${error.expected}.`);
    throw error;
  }
}

/** Reads options by the rules of a class, and refuses others. Empty values count as absent. */
export function optionsOf<T extends object>(type: Class<T>, plain: object): T {
  const entries = Object.entries(plain).filter(([, value]) => isOption(value));
  assertKnown(entries, optionNames(type));
  return knownOptionsOf(type, Object.fromEntries(entries));
}

/** Reads the options that a class has, and ignores others. An empty value is a value. */
export const knownOptionsOf = <T extends object>(type: Class<T>, plain: object): T =>
  read(type, plain, 'invalid_query');

export const headerFieldsOf = <T extends object>(type: Class<T>, headers: object): T =>
  read(type, headers, 'bad_request', 'header');

/** An option also counts as absent if it is a list of only empty values. */
export function isOption(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isGiven) : isGiven(value);
}

/** Returns the options that are given. `logs` is left out, because client libraries send it with every call. */
export const givenIn = (query: object): [name: string, value: unknown][] =>
  Object.entries(query).filter(([name, value]) => isOption(value) && name !== 'logs');

export function assertKnown(
  entries: readonly [string, unknown][],
  known: readonly string[],
  code: ProblemCode = 'invalid_query',
): void {
  for (const [name] of entries) {
    if (known.includes(name)) continue;
    const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name;
    const near = hint(name, known);
    const list = known.length === 0 ? 'This call takes none in its query.' : `There are ${known.join(', ')}.`;
    const others = near === '' ? `. ${list}` : near;
    throw new DomainError(code, `There is no option "${shown}"${others}`);
  }
}

/** For calls whose options belong in the body. In the query they would be ignored silently. */
export function assertNoOptions(query: object): void {
  assertKnown(givenIn(query), []);
}

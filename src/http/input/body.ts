import { ApiSchema } from '@nestjs/swagger';
import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import type { Class } from '../../tools/validation.js';
import { isGiven, rule, type Rule } from '../../tools/rules.js';
import { isObject, parseObjectBody } from './json-body.js';
import { assertKnown, optionNames, optionsOf, read, readRuled } from './option.js';

/** A JSON object in a body: its rules besides those of its members, and how the API description shows it. */
interface BodyOptions {
  name: string;
  description: string;
  /** By name. The first one is in messages too. */
  examples?: Readonly<Record<string, object>>;
  /** The answer to an unknown member; null: it is ignored. Default: `invalid_query`. */
  unknown?: ProblemCode | null;
  /** Exactly one of these members is needed. */
  oneOf?: readonly string[];
  /** Texts that cannot be stored are not refused, because they are cleaned. */
  takesAnyText?: boolean;
}

const bodies = new WeakMap<Class<object>, BodyOptions>();

export function BodySchema(options: BodyOptions): ClassDecorator {
  const { name, description } = options;
  return (type) => {
    bodies.set(type as unknown as Class<object>, options);
    ApiSchema({ name, description })(type);
  };
}

export const bodyOptions = (type: Class<object>): BodyOptions => bodies.get(type)!;

/** Reads a body by the rules of its class. */
export function readBody<T extends object>(type: Class<T>, body: Buffer): T {
  const { oneOf = [], examples = {}, takesAnyText } = bodyOptions(type);
  const shown = Object.values(examples).map((one) => JSON.stringify(one));
  const { value } = parseObjectBody(body, { example: shown[0] ?? '{}', takesAnyText });
  assertMembers(type, value);
  if (oneOf.length > 0 && oneOf.filter((name) => isGiven(value[name])).length !== 1) {
    const either = oneOf.map((name) => `"${name}"`).join(' or ');
    throw new DomainError('bad_request', `Give either ${either}: ${shown.join(' or ')}.`);
  }
  return read(type, value, 'bad_request');
}

function assertMembers(type: Class<object>, value: object): void {
  const { unknown = 'invalid_query' } = bodyOptions(type);
  if (unknown !== null) assertKnown(Object.entries(value), optionNames(type), unknown);
}

/** An object within a body. */
export const object = <T extends object>(type: Class<T>): Rule<T> =>
  rule({ type }, (value) => {
    if (!isObject(value)) throw new Error('expected an object');
    assertMembers(type, value);
    return readRuled(type, value);
  });

/** Options within a body, with the rules of a query. */
export const options = <T extends object>(type: Class<T>): Rule<T> =>
  rule({ type }, (value) => {
    if (isObject(value)) return optionsOf(type, value);
    throw new Error('expected an object');
  });

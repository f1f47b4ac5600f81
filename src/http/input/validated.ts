import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { type Class, ruledProperties, toInstance } from '../../tools/validation.js';

const maxCached = 1_000;
const maxCachedLength = 64;
/** The properties of each class that was used, and its instances by the texts that they were made of. */
const known = new Map<Class<object>, ReturnType<typeof learn>>();

/** Belongs to a rule: the code that the caller is answered with if the rule does not hold. */
export function problem(code: ProblemCode): { context: { code: ProblemCode } } {
  return { context: { code } };
}

/**
 * Checks a query or header fields by the rules of a class. Results are cached, because the check takes as long as
 * reading a status.
 */
export function validated<T extends object>(type: Class<T>, plain: object): Readonly<T> {
  const { properties, instances } = known.get(type) ?? learn(type);
  const picked: Record<string, unknown> = {};
  let key = '';
  for (const property of properties) {
    const value = (picked[property] = (plain as Record<string, unknown>)[property]);
    if (typeof value === 'string') key += `${value.length}:${value}`;
    else key += value === undefined ? '-' : ' '.repeat(maxCachedLength + 1);
  }
  const cached = key.length > maxCachedLength ? undefined : instances.get(key, 0);
  if (cached !== undefined) return cached as T;
  const { instance, faults } = toInstance(type, picked);
  const [fault] = faults;
  if (fault !== undefined) {
    const { code = 'bad_request' } = (fault.context ?? {}) as { code?: ProblemCode };
    throw new DomainError(code, fault.message);
  }
  if (key.length <= maxCachedLength) instances.set(key, Object.freeze(instance), Infinity);
  return instance;
}

function learn(type: Class<object>) {
  const learnt = { properties: ruledProperties(type), instances: new BoundedCache<object>(maxCached) };
  known.set(type, learnt);
  return learnt;
}

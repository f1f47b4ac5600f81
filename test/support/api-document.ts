import { resolved } from '../../src/http/openapi/shared-parts.js';

type Components = Parameters<typeof resolved>[0];

/** Returns the part with the content of every shared component in place of the reference, but for schemas. */
export function inlined<T>(document: object, part: T): T {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((one: unknown) => inlined(document, one)) as T;
  if ('$ref' in part && !String(part.$ref).startsWith('#/components/schemas/'))
    return inlined(document, resolved<object>(document as Components, part)) as T;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, inlined(document, one)])) as T;
}

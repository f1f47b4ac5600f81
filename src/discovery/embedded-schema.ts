type Schema = Readonly<Record<string, unknown>>;

/** The keywords of JSON Schema that hold schemas: one, a list of them, or a map. */
const ofOne = new Set(
  'items contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties not if then else contentSchema'.split(
    ' ',
  ),
);
const ofList = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const ofMap = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);

/** A schema as a part of another document, at a JSON Pointer such as `#/components/schemas/Input`. */
export function embeddedSchema({ $schema: _, $id, ...schema }: Schema, at: string): Schema {
  const anchors = new Map<string, string>();
  findAnchors(schema, '', anchors);
  const base = typeof $id === 'string' ? $id.replace(/#$/, '') : undefined;
  const target = (reference: string): string => {
    const own = base !== undefined && reference.replace(/#.*/s, '') === base;
    const fragment = own ? reference.slice(base.length) || '#' : reference;
    if (fragment === '#' || fragment.startsWith('#/')) return at + fragment.slice(1);
    const anchor = fragment.startsWith('#') ? anchors.get(fragment.slice(1)) : undefined;
    return anchor === undefined ? reference : at + anchor;
  };
  const embed = (node: unknown): unknown => {
    // References of a schema with a name of its own begin at itself.
    if (!isObject(node) || node.$id !== undefined) return node;
    const entries = Object.entries(node).map(([keyword, value]): [string, unknown] => {
      if (keyword === '$ref' && typeof value === 'string') return [keyword, target(value)];
      return [keyword, mapSchemas(keyword, value, embed)];
    });
    return Object.fromEntries(entries);
  };
  return embed(schema) as Schema;
}

function mapSchemas(
  keyword: string,
  value: unknown,
  map: (schema: unknown, path: string) => unknown,
): unknown {
  if (ofOne.has(keyword)) return map(value, `/${keyword}`);
  if (ofList.has(keyword) && Array.isArray(value))
    return value.map((schema, index) => map(schema, `/${keyword}/${index}`));
  if (!ofMap.has(keyword) || !isObject(value)) return value;
  const entries = Object.entries(value).map(([name, schema]) => {
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    return [name, map(schema, `/${keyword}/${encodeURIComponent(step)}`)];
  });
  return Object.fromEntries(entries) as unknown;
}

function findAnchors(node: unknown, path: string, found: Map<string, string>): void {
  if (!isObject(node) || node.$id !== undefined) return;
  if (typeof node.$anchor === 'string') found.set(node.$anchor, path);
  for (const [keyword, value] of Object.entries(node))
    mapSchemas(keyword, value, (schema, step) => findAnchors(schema, path + step, found));
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

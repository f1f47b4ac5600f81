type Schema = Readonly<Record<string, unknown>>;

const components = '#/components/schemas/';
/** The component that is the whole schema. */
const rootName = 'Input';
/** The keywords of JSON Schema that hold schemas: one, a list, or a map. */
const ofOne = new Set(
  'items contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties not if then else contentSchema'.split(
    ' ',
  ),
);
const ofList = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const ofMap = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);

/**
 * Returns a schema as components of an OpenAPI document: itself as `Input`, and its definitions as other components.
 * Generators mistake a nested `$defs` for a property.
 */
export function embeddedSchemas(schema: Schema): Record<string, Schema> {
  return new Embedding(schema).schemas;
}

class Embedding {
  readonly schemas: Record<string, Schema> = {};
  /** Names of the components, by their pointers in the schema; '' is the whole schema. */
  private readonly names: Map<string, string>;
  private readonly anchors = new Map<string, string>();
  private readonly base: string | undefined;

  constructor({ $id, ...schema }: Record<string, unknown>) {
    delete schema['$schema']; // OpenAPI 3.1 uses the same dialect
    this.base = typeof $id === 'string' ? $id.replace(/#$/, '') : undefined;
    this.names = new Map([['', rootName]]);
    this.find(schema, '');
    this.schemas[rootName] = this.embed(schema, '') as Schema;
  }

  private find(node: unknown, path: string): void {
    if (!isNode(node)) return;
    if (typeof node.$anchor === 'string') this.anchors.set(node.$anchor, path);
    for (const [keyword, value] of Object.entries(node)) {
      mapSchemas(keyword, value, (schema, step, key) => {
        if (isDefinitions(keyword)) this.names.set(path + step, this.newName(key));
        this.find(schema, path + step);
      });
    }
  }

  private newName(key: string): string {
    const taken = new Set(this.names.values());
    let name = `${rootName}_${key.replaceAll(/[^\w.-]/g, '_')}`;
    while (taken.has(name)) name += '_';
    return name;
  }

  private embed(node: unknown, path: string): unknown {
    if (!isNode(node)) return node;
    const entries = Object.entries(node).flatMap(([keyword, value]): [string, unknown][] => {
      if (keyword === '$ref' && typeof value === 'string') return [[keyword, this.target(value)]];
      const mapped = mapSchemas(keyword, value, (schema, step) => this.embed(schema, path + step));
      if (!isDefinitions(keyword) || !isObject(mapped)) return [[keyword, mapped]];
      for (const [key, schema] of Object.entries(mapped))
        this.schemas[this.names.get(`${path}/${keyword}/${escaped(key)}`)!] = schema as Schema;
      return [];
    });
    return Object.fromEntries(entries);
  }

  private target(reference: string): string {
    const isOwn = this.base !== undefined && reference.replace(/#.*/s, '') === this.base;
    const fragment = isOwn ? reference.slice(this.base.length) || '#' : reference;
    if (!fragment.startsWith('#')) return reference;
    const path = /^#(?:\/|$)/.test(fragment)
      ? decoded(fragment.slice(1))
      : this.anchors.get(fragment.slice(1));
    if (path === undefined) return reference;
    let start = path;
    while (!this.names.has(start)) start = start.slice(0, start.lastIndexOf('/'));
    return components + this.names.get(start)! + encodeURI(path.slice(start.length));
  }
}

function mapSchemas(
  keyword: string,
  value: unknown,
  map: (schema: unknown, step: string, key: string) => unknown,
): unknown {
  if (ofOne.has(keyword)) return map(value, `/${keyword}`, '');
  if (ofList.has(keyword) && Array.isArray(value))
    return value.map((schema, index) => map(schema, `/${keyword}/${index}`, ''));
  if (!ofMap.has(keyword) || !isObject(value)) return value;
  const entries = Object.entries(value).map(([key, schema]) => [
    key,
    map(schema, `/${keyword}/${escaped(key)}`, key),
  ]);
  return Object.fromEntries(entries) as unknown;
}

function isDefinitions(keyword: string): boolean {
  return keyword === '$defs' || keyword === 'definitions';
}

/** Escapes a key as a step of a JSON Pointer. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function decoded(pointer: string): string | undefined {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return undefined;
  }
}

/** Excludes a schema with its own `$id`. Its references are relative to itself, so nothing within it moves. */
function isNode(value: unknown): value is Schema {
  return isObject(value) && value.$id === undefined;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

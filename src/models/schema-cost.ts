import type { Pattern } from './patterns.js';

type Schema = Record<string, unknown>;

/** The cost of checking an input against a schema, at worst. */
export interface SchemaCost {
  /** Nanoseconds per byte of the input; Infinity: it has no bound. */
  cost: number;
  /** Why it has no bound, each with the word of the schema that is the reason. */
  unbounded: { word: string; reason: string }[];
}

/** Cost of looking at one value, which has at least two bytes. */
const visitCost = 10;
/** Cost of looking for each name or value that a keyword lists. */
const listedCost = 1;
const formatCost = 20;
const uniqueCost = 100;
/** An element that is compared as a whole is compared again as a part of each element that holds it. */
const maxDepth = 200;

/** Formats whose time to check grows faster than their text. */
const slowFormats = ['url', 'regex'];

/** Keywords whose schema applies to the value itself. */
const inPlace = ['not', 'if', 'then', 'else', 'propertyNames'];
const inPlaceLists = ['allOf', 'anyOf', 'oneOf'];
/** Keywords whose schema applies to all elements, or members. */
const below = ['contains', 'unevaluatedItems', 'unevaluatedProperties'];

/**
 * Returns how long a check may take. If a schema does not refer to itself, a check looks at each value as often as
 * parts of the schema apply to the same place. A schema that refers to itself is bounded if no part of it leads back in
 * two ways to the same place of an input. Otherwise the number of checks doubles with each level.
 */
export function costOf(root: Schema, patternOf: (source: string) => Pattern): SchemaCost {
  return new CostReader(root, patternOf).read();
}

interface Node {
  own: number;
  /** Groups of schemas that apply to the same places. Of a group, only one applies to a place. */
  groups: Schema[][];
}

class CostReader {
  private readonly nodes = new Map<Schema, Node>();
  private readonly unbounded = new Map<string, string>();
  private readonly costs = new Map<Schema, number>();
  private readonly loops = new Map<Schema, number>();

  constructor(
    private readonly root: Schema,
    private readonly patternOf: (source: string) => Pattern,
  ) {}

  read(): SchemaCost {
    this.visit(this.root);
    this.findLoops();
    for (const [schema, { groups }] of this.nodes) {
      const loop = this.loops.get(schema);
      const back = groups.filter((group) =>
        group.some((one) => loop !== undefined && this.loops.get(one) === loop),
      );
      if (back.length > 1)
        this.unbounded.set(
          '$ref',
          'the schema refers to itself in more than one way at the same place, so the time doubles with each level',
        );
    }
    const unbounded = [...this.unbounded].map(([word, reason]) => ({ word, reason }));
    return { cost: unbounded.length > 0 ? Infinity : this.cost(this.root), unbounded };
  }

  private visit(schema: Schema): void {
    if (this.nodes.has(schema)) return;
    const node: Node = { own: visitCost, groups: [] };
    this.nodes.set(schema, node);
    for (const [keyword, value] of Object.entries(schema)) node.own += this.ownCost(keyword, value);
    node.groups = this.groupsOf(schema, node);
    for (const group of node.groups) for (const one of group) this.visit(one);
  }

  private ownCost(keyword: string, value: unknown): number {
    switch (keyword) {
      case 'pattern':
        return this.patternCost(String(value));
      case 'format':
        if (slowFormats.includes(String(value)))
          this.unbounded.set(
            String(value),
            `the time to check the format "${String(value)}" grows faster than the length of the text`,
          );
        return formatCost;
      case 'uniqueItems':
        return value === true ? uniqueCost : 0;
      case 'enum':
      case 'required':
        return Array.isArray(value) ? value.length * listedCost : 0;
      case 'const':
        return JSON.stringify(value).length * listedCost;
      case 'properties':
      case 'dependentRequired':
      case 'dependentSchemas':
      case 'dependencies':
        return Object.keys(value as object).length * listedCost;
      default:
        return 0;
    }
  }

  private patternCost(source: string): number {
    const { cost, unbounded } = this.patternOf(source);
    if (unbounded !== undefined)
      this.unbounded.set(
        source,
        `the time to match the pattern ${shown(source)} has no bound, because ${unbounded}`,
      );
    return unbounded === undefined ? cost : 0;
  }

  private groupsOf(schema: Schema, node: Node): Schema[][] {
    const groups: Schema[][] = [];
    const add = (...values: unknown[]): void => {
      const schemas = values.filter(isSchema);
      if (schemas.length > 0) groups.push(schemas);
    };
    for (const keyword of [...inPlace, ...below]) add(schema[keyword]);
    for (const keyword of inPlaceLists) for (const one of listOf(schema[keyword])) add(one);
    for (const keyword of ['dependentSchemas', 'dependencies'])
      for (const one of membersOf(schema[keyword])) add(one);
    for (const [source, one] of Object.entries(schema['patternProperties'] ?? {})) {
      node.own += this.patternCost(source);
      add(one);
    }
    // A value has one place, so it is one property or element of all these.
    add(
      ...membersOf(schema['properties']),
      schema['additionalProperties'],
      ...listOf(schema['prefixItems']),
      schema['items'],
    );
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef'])
      if (typeof schema[keyword] === 'string') add(this.referred(keyword, schema[keyword]));
    return groups;
  }

  private referred(keyword: string, reference: string): unknown {
    const target = keyword === '$ref' ? this.find(reference) : undefined;
    if (target === undefined)
      this.unbounded.set(
        reference,
        `the time has no known bound, because the reference "${reference}" is not a JSON Pointer within the schema`,
      );
    return target;
  }

  /** Follows a JSON Pointer. It follows no reference to an anchor, and none whose base an `$id` changes. */
  private find(reference: string): unknown {
    if (!/^#(?:\/|$)/.test(reference)) return undefined;
    let at: unknown = this.root;
    for (const part of reference.split('/').slice(1)) {
      if (typeof at !== 'object' || at === null) return undefined;
      if (at !== this.root && '$id' in at) return undefined;
      const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      at = (at as Record<string, unknown>)[name];
    }
    return at;
  }

  /** Finds strongly connected components (Tarjan): those of more than one schema, or of one that leads to itself. */
  private findLoops(): void {
    const order = new Map<Schema, number>();
    const lowest = new Map<Schema, number>();
    const open: Schema[] = [];
    const isOpen = new Set<Schema>();
    const follow = (schema: Schema): void => {
      order.set(schema, order.size);
      lowest.set(schema, order.get(schema)!);
      open.push(schema);
      isOpen.add(schema);
      const next = this.nodes.get(schema)!.groups.flat();
      for (const one of next) {
        if (!order.has(one)) follow(one);
        if (isOpen.has(one)) lowest.set(schema, Math.min(lowest.get(schema)!, lowest.get(one)!));
      }
      if (lowest.get(schema) !== order.get(schema)) return;
      const loop = open.splice(open.indexOf(schema));
      for (const one of loop) isOpen.delete(one);
      if (loop.length > 1 || next.includes(schema))
        for (const one of loop) this.loops.set(one, order.get(schema)!);
    };
    follow(this.root);
  }

  /** In a loop each schema counts once, because it looks at each value once. */
  private cost(schema: Schema): number {
    const known = this.costs.get(schema);
    if (known !== undefined) return known;
    this.costs.set(schema, 0);
    const { own, groups } = this.nodes.get(schema)!;
    const isAgain =
      this.loops.has(schema) && (schema['uniqueItems'] === true || 'enum' in schema || 'const' in schema);
    const parts = groups.map((group) => Math.max(...group.map((one) => this.cost(one))));
    const cost = parts.reduce((sum, part) => sum + part, isAgain ? own * maxDepth : own);
    this.costs.set(schema, cost);
    return cost;
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const membersOf = (value: unknown): unknown[] => (isSchema(value) ? Object.values(value) : []);

const shown = (source: string): string => (source.length <= 100 ? source : `${source.slice(0, 100)}…`);

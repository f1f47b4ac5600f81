import { isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import type { Config } from '../config/config.js';
import { type Class, EntryFault, type Fault, ruledProperties, toInstance } from '../tools/validation.js';
import { valueOrFile } from '../config/secret-files.js';
import { hint } from '../tools/closest.js';
import type { YamlSource } from './yaml-source.js';

interface Reading {
  /** Options that have readers of their own. */
  besides?: readonly string[];
  /** The variables that each text may refer to with `${NAME}`, also a text within a list or a map. */
  environment?: Config['environment'];
}

/** In { a: b,c } the c is an entry of its own. It may be part of a secret, so it is not quoted. */
const withoutValue = 'an entry has no value; quote a text that contains a comma';

/** A YAML map whose keys are options. A fault is reported with its line, and reading continues. */
export class OptionMap {
  private readonly options = new Map<string, { key: Node; value: Node | null }>();

  constructor(
    private readonly source: YamlSource,
    private readonly map: YAMLMap,
  ) {
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : '';
      this.options.set(name, { key: key as Node, value: source.resolve(value) });
    }
  }

  private hasValue(name: string): boolean {
    const node = this.node(name);
    return node !== null && !(isScalar(node) && node.value === null);
  }

  get names(): string[] {
    return [...this.options.keys()];
  }

  node(name: string): Node | null {
    return this.options.get(name)?.value ?? null;
  }

  fault(name: string, message: string): void {
    this.source.fault(this.options.get(name)?.key ?? this.map, `${name}: ${message}`);
  }

  allowOnly(known: readonly string[]): this {
    for (const [name, { key }] of this.options) {
      if (known.includes(name)) continue;
      const near = hint(name, known);
      const isNamed = near !== '' || this.hasValue(name);
      this.source.fault(key, isNamed ? `unknown option "${name}"${near}` : withoutValue);
    }
    return this;
  }

  /** Reads the options of the class by its rules. A wrong option gets its default. */
  read<T extends object>(Options: Class<T>, { besides = [], environment }: Reading): T {
    this.allowOnly([...ruledProperties(Options), ...besides]);
    const plain = this.values(environment, besides);
    const { instance, faults } = toInstance(Options, plain);
    const defaults = new Options();
    for (const fault of faults) {
      const property = fault.property as keyof T & string;
      instance[property] = defaults[property];
      // An option that could not be read at all has its fault already.
      if (!this.options.has(property) || Object.hasOwn(plain, property)) this.report(fault);
    }
    return instance;
  }

  /** Returns the values that the rules check. */
  private values(environment: Reading['environment'], except: readonly string[]): Record<string, unknown> {
    const values = new Map<string, unknown>();
    for (const [name, { value }] of this.options) {
      if (except.includes(name)) continue;
      try {
        if (environment !== undefined && isMap(value)) {
          values.set(name, new OptionMap(this.source, value).values(environment, []));
        } else {
          const plain = value === null ? null : this.source.value(value);
          values.set(name, environment === undefined ? plain : substituted(plain, environment));
        }
      } catch (error) {
        this.fault(name, (error as Error).message);
      }
    }
    return Object.fromEntries(values);
  }

  private report({ property, message, cause }: Fault): void {
    const value = this.node(property);
    if (!this.options.has(property)) this.source.fault(this.map, `"${property}" ${message}`);
    else if (value === null || !(cause instanceof AggregateError)) this.fault(property, message);
    else {
      const map = new OptionMap(this.source, value as YAMLMap);
      for (const { entry, message: wrong } of cause.errors as EntryFault[]) {
        if (map.hasValue(entry)) map.fault(entry, wrong);
        else this.source.fault(map.options.get(entry)?.key, withoutValue);
      }
    }
  }
}

/**
 * Substitutes variables in a text, or in the texts of a list or a map. Throws with the names of variables that are not set,
 * never with values.
 */
function substituted(value: unknown, environment: Config['environment']): unknown {
  if (Array.isArray(value)) return value.map((item) => substituted(item, environment));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, substituted(item, environment)]),
    );
  if (typeof value !== 'string') return value;
  const missing = new Set<string>();
  const result = value.replaceAll(/\$\{([^}]*)(\}?)/g, (_, name: string, end: string) => {
    if (end === '' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new Error('expected a variable written as ${NAME}');
    }
    const text = valueOrFile(name, environment);
    if (text === undefined) missing.add(name);
    return text ?? '';
  });
  if (missing.size === 0) return result;
  throw new Error(`the environment variable ${[...missing].join(', ')} is not set`);
}

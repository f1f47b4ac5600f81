import { isScalar, type Node, type YAMLMap } from 'yaml';
import { hint } from './closest.js';
import type { YamlSource } from './yaml-source.js';

/** Turns an option's value into what is kept; throws an Error that says what would have been accepted. */
export type OptionParser<T> = (value: unknown) => T;

/** A YAML map whose keys are options. What is wrong becomes a fault with its line; reading goes on. */
export class OptionMap {
  private readonly options = new Map<string, { key: Node; value: Node | null }>();

  /** `known` undefined: the names are free, as those of headers are. */
  constructor(
    readonly source: YamlSource,
    private readonly map: YAMLMap,
    known?: readonly string[],
  ) {
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (known !== undefined && !known.includes(name)) {
        this.source.fault(key as Node, `unknown option "${name}"${hint(name, known)}`);
      }
      this.options.set(name, { key: key as Node, value: source.resolve(value) });
    }
  }

  get names(): string[] {
    return [...this.options.keys()];
  }

  node(name: string): Node | null {
    return this.options.get(name)?.value ?? null;
  }

  /** Reads one option; `fallback` stands where it was left out or is wrong. */
  read<T>(name: string, parse: OptionParser<T>, fallback: T): T {
    const option = this.options.get(name);
    if (option === undefined) return fallback;
    try {
      return parse(option.value === null ? null : this.source.value(option.value));
    } catch (error) {
      this.source.fault(option.key, `${name}: ${(error as Error).message}`);
      return fallback;
    }
  }

  require<T>(name: string, parse: OptionParser<T>, fallback: T): T {
    if (!this.options.has(name)) this.source.fault(this.map, `"${name}" is missing`);
    return this.read(name, parse, fallback);
  }

  fault(name: string, message: string): void {
    this.source.fault(this.options.get(name)?.key ?? this.map, `${name}: ${message}`);
  }
}

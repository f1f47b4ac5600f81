import { readFileSync, type Stats, statSync } from 'node:fs';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { type Config, ConfigError } from '../config/config.js';
import { parseSwitch } from '../config/parsers.js';
import { hint } from '../tools/closest.js';
import { Parsed, WholeNumber } from '../tools/validation.js';
import { InputSchemas, maxInlineBytes, SchemaFaults } from './input-schemas.js';
import {
  defaultLostAttempts,
  type FileModel,
  type Group,
  isAlias,
  isGroupId,
  isModelId,
  noReserve,
  type Order,
  orders,
  type Reserve,
  type Retry,
} from './model.js';
import { OptionMap } from './option-map.js';
import { Duration, Required, type RunnerKind, type RunnerOptions, Text } from './runner-kind.js';
import { YamlSource } from './yaml-source.js';

const maxFileBytes = 1024 ** 2;
const maxModels = 1_000;
const maxAliases = 100;

/** The options of one entry of the file, except those with readers of their own. Durations are in milliseconds. */
class ModelOptions {
  @Required() @Parsed(modelId) id: string | undefined;
  @Parsed(aliasesOf) aliases: readonly string[] = [];
  @Text(2_000) description = '';
  @WholeNumber(1, 10_000) concurrency = 1;
  @Duration('7d') timeout = 600_000;
  @Duration('365d') expires: number | null = null;
  @WholeNumber(1, 100) attempts = 3;
  @WholeNumber(1, 100) lost_attempts = defaultLostAttempts;
  @Parsed((value: unknown) => parseSwitch(String(value))) circuit = true;
  @Parsed(reserveOf) reserve: Reserve = noReserve;
  @Parsed(orderOf) order: Order = 'fair';
  @WholeNumber(1, 1_000_000_000) max_waiting: number | undefined;
  @Duration('3650d') retention: number | null = null;
  @Duration('3650d') retention_payload: number | null = null;
}

/** The options of one group of the file. */
class GroupOptions {
  @WholeNumber(1, 10_000) concurrency = 1;
  @Duration('1d') stay = 0;
}

const retriable = ['timeout', 'error'];

class RetryOptions {
  @Duration('1h') base = 1_000;
  @Duration('1d') cap = 60_000;
  @Parsed(retryOn) on: readonly string[] = ['error'];
}

/** The environment that a file may refer to, and the kinds of runners that it may name. */
type Context = [environment: Config['environment'], kinds: readonly RunnerKind[]];

/** The models file of this process, which is read at the start and again when it may have changed. */
export class ModelsFile {
  private readonly context: Context;
  /** The state of the file at the last read. */
  private known: Stats | undefined;
  /** False until the file had a name. On some file systems, the name of an open file cannot be read. */
  private hadName = false;

  constructor(
    readonly path: string,
    ...context: Context
  ) {
    this.context = context;
  }

  /** Reads and checks the file. Throws a `ConfigError` that names every fault with its line. */
  read(): FileModel[] {
    return parseModels(this.readText(), this.path, ...this.context);
  }

  /** Returns whether the file may have changed since it was last read. */
  hasChanged(): boolean {
    try {
      const now = statSync(this.path);
      return (['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const).some(
        (of) => now[of] !== this.known?.[of],
      );
    } catch {
      return true;
    }
  }

  private readText(): string {
    let fault: string;
    try {
      this.known = statSync(this.path);
      this.hadName ||= this.known.nlink > 0;
      // A container that mounts the file itself keeps the old one when the file is replaced, as `sed -i` does.
      if (this.hadName && this.known.nlink === 0)
        fault =
          'it was replaced, but this process still sees the old file, because the file itself is mounted; ' +
          'mount the folder that it is in, and restart';
      else if (this.known.size > maxFileBytes) fault = 'it is larger than 1 MiB';
      else return readFileSync(this.path, 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      fault = `${code === 'ENOENT' ? 'there is no such file' : 'it cannot be read'} (MODELS_FILE names it)`;
    }
    throw new ConfigError(`${this.path}: ${fault}`);
  }
}

/** `file`: its name in messages. */
export function parseModels(text: string, file: string, ...context: Context): FileModel[] {
  const source = new YamlSource(text);
  const models = source.isReadable ? new ModelsReader(source, file, ...context).read() : [];
  if (source.faults.length === 0) return models;
  const lines = source.faults
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ line, message }) => `${file}${line === undefined ? '' : ` line ${line}`}: ${message}`);
  throw new ConfigError(lines.join('\n'));
}

/** A fault is added to the source, and reading continues. With a fault, the models are not used. */
class ModelsReader {
  private readonly schemas = new InputSchemas();
  private readonly groups = new Map<string, Group>();
  /** The first model of each group: the others have the same kind of runner. */
  private readonly firstOf = new Map<Group, { id: string; kind: string }>();

  constructor(
    private readonly source: YamlSource,
    private readonly file: string,
    private readonly environment: Config['environment'],
    private readonly kinds: readonly RunnerKind[],
  ) {}

  read(): FileModel[] {
    const models = new Map<string, FileModel>();
    const aliases: { node: Node; model: FileModel; alias: string }[] = [];
    const { root } = this.source;
    const map = this.mapAt(root, 'expected a map with "models"')?.allowOnly(['groups', 'models']);
    if (map === undefined) return [];
    const groups = map.node('groups');
    if (groups !== null) this.readGroups(groups);
    for (const node of this.entries(map)) {
      const model = this.readModel(node);
      if (model === undefined) continue;
      if (models.has(model.id)) this.source.fault(node, `the id "${model.id}" appears twice`);
      if (model.id !== '') models.set(model.id, model);
      const place = (isMap(node) && new OptionMap(this.source, node).node('aliases')) || node;
      for (const alias of model.aliases) aliases.push({ node: place, model, alias });
    }
    this.checkAliases(aliases, models);
    return [...models.values()];
  }

  /** A name, be it an id or an alias, belongs to one model only. */
  private checkAliases(
    aliases: readonly { node: Node; model: FileModel; alias: string }[],
    models: ReadonlyMap<string, FileModel>,
  ): void {
    const known = new Map<string, FileModel>();
    for (const { node, model, alias } of aliases) {
      const other = models.get(alias) ?? known.get(alias);
      if (other !== undefined)
        this.source.fault(node, `aliases: "${alias}" already names the model "${other.id}"`);
      known.set(alias, model);
    }
  }

  private readGroups(node: Node): void {
    const map = this.mapAt(node, 'groups: expected a map such as { gpu-0: { concurrency: 1, stay: 30s } }');
    for (const id of map?.names ?? []) {
      if (!isGroupId(id))
        map!.fault(
          id,
          'expected a name of up to 64 letters, digits, ".", "_" and "-", beginning with a letter or digit',
        );
      const expected = `${id}: expected the options of a group, such as { concurrency: 1, stay: 30s }`;
      const options = this.mapAt(map!.node(id) ?? node, expected)?.read(GroupOptions, {});
      const { concurrency, stay: stayMs } = options ?? new GroupOptions();
      this.groups.set(id, { id, concurrency, stayMs });
    }
  }

  private entries(map: OptionMap): Node[] {
    const list = map.node('models');
    if (isSeq(list) && list.items.length >= 1 && list.items.length <= maxModels) {
      return list.items.map((item) => this.source.resolve(item) ?? list);
    }
    this.source.fault(list ?? this.source.root, `models: expected a list of 1 to ${maxModels} models`);
    return [];
  }

  private readModel(node: Node): FileModel | undefined {
    const map = this.mapAt(node, 'expected a model: a map with "id" and "runner"');
    if (map === undefined) return undefined;
    const options = map.read(ModelOptions, { besides: ['runner', 'retry', 'input_schema', 'group', 'stay'] });
    const { id = '', timeout: timeoutMs, expires: expiresMs, concurrency, ...rest } = options;
    const {
      retention: retentionMs,
      retention_payload: retentionPayloadMs,
      max_waiting: maxWaiting = null,
      lost_attempts: lostAttempts,
      ...others
    } = rest;
    const runnerNode = map.node('runner');
    if (runnerNode === null) this.source.fault(node, '"runner" is missing');
    const runner = runnerNode === null ? undefined : this.readRunner(runnerNode);
    if ((retentionPayloadMs ?? 0) > (retentionMs ?? Infinity)) {
      map.fault('retention_payload', 'expected at most the duration of "retention"');
    }
    const schema = this.readInputSchema(map);
    if (map.node('stay') !== null)
      map.fault('stay', 'it is an option of a group; write it there: groups: { gpu-0: { stay: 30s } }');
    const group = this.readGroup(map);
    if (runner === undefined) return undefined;
    if (group !== null) this.checkMember(map, group, { id, kind: runner.kind, concurrency });
    const { takenBy } = runner;
    const hasConcurrency = map.node('concurrency') !== null;
    // Without a number, a model may use all slots of its group, and workers take as many runs as they like.
    const slots = hasConcurrency ? concurrency : (group?.concurrency ?? (takenBy === 'workers' ? null : 1));
    const reserved = others.reserve.high + others.reserve.normal;
    if (reserved > 0 && slots === null)
      map.fault('reserve', 'a model of workers has slots only with "concurrency"; add it');
    else if (reserved > 0 && reserved >= slots!)
      map.fault(
        'reserve',
        `expected fewer slots in all than its concurrency of ${slots}, or no other request could start`,
      );
    return {
      id,
      ...others,
      retry: this.readRetry(map.node('retry')),
      maxWaiting,
      lostAttempts,
      runner,
      takenBy,
      concurrency: slots,
      group,
      timeoutMs,
      expiresMs,
      retentionMs,
      retentionPayloadMs,
      ...schema,
    };
  }

  /** Reads a runner by its kind. Each text of its options may refer to the environment. */
  private readRunner(node: Node): RunnerOptions | undefined {
    const map = this.mapAt(node, 'runner: expected a map such as { kind: http, url: … }');
    if (map === undefined) return undefined;
    const word = map.node('kind');
    const kind = this.kinds.find((known) => isScalar(word) && word.value === known.kind);
    const words = this.kinds.map((known) => known.kind).join(', ');
    if (word === null) this.source.fault(node, '"kind" is missing');
    else if (kind === undefined) map.fault('kind', `expected one of ${words}`);
    if (kind === undefined) return undefined;
    const before = this.source.faults.length;
    const options = map.read(kind.Options, { environment: this.environment });
    const fault = this.source.faults.length === before ? options.fault() : undefined;
    if (fault !== undefined) this.source.fault(node, fault);
    return options;
  }

  private readGroup(map: OptionMap): Group | null {
    const node = map.node('group');
    if (node === null) return null;
    const id = isScalar(node) ? String(node.value) : '';
    const group = this.groups.get(id);
    if (group !== undefined) return group;
    const near = hint(id, this.groups.keys());
    const remedy = '; define it under "groups", as in groups: { gpu-0: { concurrency: 1, stay: 30s } }';
    map.fault('group', `there is no such group${near === '' ? remedy : near}`);
    return null;
  }

  private checkMember(
    map: OptionMap,
    group: Group,
    { id, kind, concurrency }: { id: string; kind: string; concurrency: number },
  ): void {
    const first = this.firstOf.get(group) ?? { id, kind };
    this.firstOf.set(group, first);
    if (first.kind !== kind)
      map.fault(
        'group',
        `this runner is of kind ${kind}, but ${first.id} in the same group is of kind ${first.kind}; ` +
          'give each kind a group of its own',
      );
    if (concurrency > group.concurrency)
      map.fault('concurrency', `expected at most ${group.concurrency}, the concurrency of its group`);
  }

  private readRetry(node: Node | null): Retry {
    const map =
      node === null ? undefined : this.mapAt(node, 'retry: expected a map such as { base: 1s, cap: 1m }');
    const { base: baseMs, cap: capMs, on } = map?.read(RetryOptions, {}) ?? new RetryOptions();
    if (baseMs > capMs) map?.fault('base', 'expected at most the duration of "cap"');
    return { baseMs, capMs, on };
  }

  private readInputSchema(
    map: OptionMap,
  ): Pick<FileModel, 'inputSchema' | 'validate' | 'maxInlineBytes' | 'warnings'> {
    const { source } = this;
    const node = map.node('input_schema');
    try {
      if (node !== null) {
        if (!isMap(node)) throw new Error('expected a JSON Schema: a map such as { type: object, … }');
        const inputSchema = source.value(node) as Record<string, unknown>;
        const { validate, maxInlineBytes: bytes, unbounded } = this.schemas.compile(inputSchema);
        const warnings = unbounded.map(
          ({ word, reason }) =>
            `${this.file} line ${source.lineOf(source.find(node, word))}: input_schema: ${reason}; ` +
            'every input is checked in a thread and refused if that takes too long',
        );
        return { inputSchema, validate, maxInlineBytes: bytes, warnings: () => warnings };
      }
    } catch (error) {
      if (!(error instanceof SchemaFaults)) map.fault('input_schema', (error as Error).message);
      else
        for (const { word, pointer, message } of error.faults) {
          const place = word === undefined ? source.locate(node!, pointer) : source.find(node!, word);
          source.fault(place, `input_schema: ${message}`);
        }
    }
    return { inputSchema: null, validate: () => [], maxInlineBytes, warnings: () => [] };
  }

  private mapAt(node: Node | null, expected: string): OptionMap | undefined {
    if (isMap(node)) return new OptionMap(this.source, node);
    this.source.fault(node, expected);
    return undefined;
  }
}

function retryOn(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.every((word) => retriable.includes(word as string));
  if (isList) return value as string[];
  throw new Error(`expected a list of ${retriable.join(', ')}, such as [error]`);
}

function aliasesOf(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string' && isAlias(one));
  if (isList && value.length <= maxAliases) return value as string[];
  throw new Error(
    `expected a list of at most ${maxAliases} names, each of 1 to 256 letters, digits and "._:/@-", the first a letter or digit, such as [gpt-4o-mini]`,
  );
}

function orderOf(value: unknown): Order {
  const order = orders.find((one) => one === value);
  if (order !== undefined) return order;
  throw new Error(`expected one of ${orders.join(', ')}`);
}

function reserveOf(value: unknown): Reserve {
  const expected = 'expected the number of slots for each priority, such as { high: 1 }; low needs none';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(expected);
  for (const [priority, slots] of Object.entries(value)) {
    if (!Object.hasOwn(noReserve, priority))
      throw new Error(`${expected}; "${priority}" is neither high nor normal`);
    if (!Number.isInteger(slots) || (slots as number) < 1 || (slots as number) > 10_000)
      throw new Error(`${priority}: expected a whole number from 1 to 10000`);
  }
  return { ...noReserve, ...(value as Partial<Reserve>) };
}

function modelId(value: unknown): string {
  if (typeof value === 'string' && isModelId(value)) return value;
  throw new Error(
    'expected 1 to 8 segments joined by "/", each of letters, digits, ".", "_" and "-" and beginning with ' +
      'a letter or digit; the first must not be "requests", the last not "openapi.json"',
  );
}

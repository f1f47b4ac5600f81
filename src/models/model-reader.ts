import { isMap, isScalar, type Node } from 'yaml';
import { SchemaFault, type InputSchemas } from './input-schemas.js';
import { ModelOptions } from './model-options.js';
import type { Model } from './model.js';
import { OptionMap } from './option-map.js';
import type { RunnerKind, RunnerOptions } from './runner-kind.js';
import { type Environment, substitute } from './substitute.js';
import type { YamlSource } from './yaml-source.js';

export interface ModelReaderContext {
  source: YamlSource;
  environment: Environment;
  schemas: InputSchemas;
  kinds: readonly RunnerKind[];
}

/** One entry of the file. What is wrong with it is in the source's faults; the model then is of no use. */
export function readModel(node: Node, context: ModelReaderContext): Model | undefined {
  const { source, schemas } = context;
  if (!isMap(node)) {
    source.fault(node, 'expected a model: a map with "id" and "runner"');
    return undefined;
  }
  const map = new OptionMap(source, node);
  const options = map.read(ModelOptions, { except: ['runner', 'input_schema'] });
  const runnerNode = map.node('runner');
  if (runnerNode === null) source.fault(node, '"runner" is missing');
  const runner = runnerNode === null ? undefined : readRunner(runnerNode, context);
  if ((options.retention_payload ?? 0) > (options.retention ?? Infinity)) {
    map.fault('retention_payload', 'expected at most the duration of "retention"');
  }
  const schema = readInputSchema(map, schemas);
  if (runner === undefined) return undefined;
  return {
    id: options.id ?? '',
    description: options.description,
    runner,
    concurrency: options.concurrency,
    timeoutMs: options.timeout,
    expiresMs: options.expires ?? null,
    attempts: options.attempts,
    retentionMs: options.retention ?? null,
    retentionPayloadMs: options.retention_payload ?? null,
    ...schema,
  };
}

/** By its kind, whose options may refer to the environment in each text. */
function readRunner(
  node: Node,
  { source, environment, kinds }: ModelReaderContext,
): RunnerOptions | undefined {
  if (!isMap(node)) {
    source.fault(node, 'runner: expected a map such as { kind: http, url: … }');
    return undefined;
  }
  const map = new OptionMap(source, node);
  const word = map.node('kind');
  const kind = kinds.find((known) => isScalar(word) && word.value === known.kind);
  if (word === null) source.fault(node, '"kind" is missing');
  else if (kind === undefined)
    map.fault('kind', `expected one of ${kinds.map((known) => known.kind).join(', ')}`);
  return kind && map.read(kind.Options, { eachText: (text) => substitute(text, environment) });
}

function readInputSchema(map: OptionMap, schemas: InputSchemas): Pick<Model, 'inputSchema' | 'validate'> {
  const { source } = map;
  const node = map.node('input_schema');
  try {
    if (node !== null) {
      const schema = source.value(node);
      assertObject(schema);
      return { inputSchema: schema, validate: schemas.compile(schema) };
    }
  } catch (error) {
    const { message } = error as Error;
    if (!(error instanceof SchemaFault)) map.fault('input_schema', message);
    else {
      const { word, pointer } = error;
      const place = word === undefined ? source.locate(node!, pointer) : source.find(node!, word);
      source.fault(place, `input_schema: ${message}`);
    }
  }
  return { inputSchema: null, validate: () => [] };
}

function assertObject(value: unknown): asserts value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('expected a JSON Schema: a map such as { type: object, … }');
  }
}

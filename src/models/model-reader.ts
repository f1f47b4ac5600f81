import { isMap, type Node } from 'yaml';
import { SchemaFault, type InputSchemas } from './input-schemas.js';
import type { Model } from './model.js';
import { OptionMap } from './option-map.js';
import { duration, integer, modelId, text } from './option-parsers.js';
import { readRunnerSpec } from './runner-spec-reader.js';
import type { Environment } from './substitute.js';
import type { YamlSource } from './yaml-source.js';

const known = [
  'id',
  'description',
  'runner',
  'concurrency',
  'timeout',
  'expires',
  'attempts',
  'retention',
  'retention_payload',
  'input_schema',
];

export interface ModelReaderContext {
  source: YamlSource;
  environment: Environment;
  schemas: InputSchemas;
}

/** One entry of the file. What is wrong with it is in the source's faults; the model then is of no use. */
export function readModel(
  node: Node,
  { source, environment, schemas }: ModelReaderContext,
): Model | undefined {
  if (!isMap(node)) {
    source.fault(node, 'expected a model: a map with "id" and "runner"');
    return undefined;
  }
  const options = new OptionMap(source, node, known);
  const id = options.require('id', modelId, '');
  const runnerNode = options.node('runner');
  if (runnerNode === null) source.fault(node, '"runner" is missing');
  const runner = runnerNode === null ? undefined : readRunnerSpec(source, runnerNode, environment);
  const model = {
    id,
    description: options.read('description', text(2_000), ''),
    concurrency: options.read('concurrency', integer(1, 10_000), 1),
    timeoutMs: options.read('timeout', duration('7d'), 600_000),
    expiresMs: options.read<number | null>('expires', duration('365d'), null),
    attempts: options.read('attempts', integer(1, 100), 3),
    retentionMs: options.read<number | null>('retention', duration('3650d'), null),
    retentionPayloadMs: options.read<number | null>('retention_payload', duration('3650d'), null),
    ...readInputSchema(options, schemas),
  };
  if (model.retentionMs !== null && (model.retentionPayloadMs ?? 0) > model.retentionMs) {
    options.fault('retention_payload', 'expected at most the duration of "retention"');
  }
  return runner === undefined ? undefined : { ...model, runner };
}

function readInputSchema(options: OptionMap, schemas: InputSchemas): Pick<Model, 'inputSchema' | 'validate'> {
  const schema = options.read<Record<string, unknown> | null>('input_schema', object, null);
  const anything = { inputSchema: null, validate: () => [] };
  if (schema === null) return anything;
  try {
    return { inputSchema: schema, validate: schemas.compile(schema) };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    const node = options.node('input_schema')!;
    const { source } = options;
    const place =
      error.word === undefined ? source.locate(node, error.pointer) : source.find(node, error.word);
    source.fault(place, `input_schema: ${error.message}`);
    return anything;
  }
}

function object(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('expected a JSON Schema: a map such as { type: object, … }');
  }
  return value as Record<string, unknown>;
}

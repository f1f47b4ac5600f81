import { readFileSync, statSync } from 'node:fs';
import { isMap, isSeq, type Node } from 'yaml';
import { InputSchemas } from './input-schemas.js';
import type { Model } from './model.js';
import { readModel } from './model-reader.js';
import { ModelsFileError } from './models-file-error.js';
import { OptionMap } from './option-map.js';
import type { RunnerKind } from './runner-kind.js';
import type { Environment } from './substitute.js';
import { YamlSource } from './yaml-source.js';

const maxFileBytes = 1024 ** 2;
const maxModels = 1_000;

/** Reads and checks the models file. Throws a `ModelsFileError` that names every fault. */
export function loadModelsFile(
  path: string,
  environment: Environment,
  kinds: readonly RunnerKind[],
): Model[] {
  return parseModels(readText(path), path, environment, kinds);
}

/** `file` is how messages call it. */
export function parseModels(
  text: string,
  file: string,
  environment: Environment,
  kinds: readonly RunnerKind[],
): Model[] {
  const source = new YamlSource(text);
  const context = { source, environment, schemas: new InputSchemas(), kinds };
  const models: Model[] = [];
  if (source.isReadable) {
    const ids = new Set<string>();
    for (const node of entries(source)) {
      const model = readModel(node, context);
      if (model === undefined) continue;
      if (ids.has(model.id)) source.fault(node, `the id "${model.id}" is there twice`);
      if (model.id !== '') ids.add(model.id);
      models.push(model);
    }
  }
  if (source.faults.length > 0) throw new ModelsFileError(file, source.faults);
  return models;
}

function entries(source: YamlSource): Node[] {
  const { root } = source;
  if (!isMap(root)) {
    source.fault(root, 'expected a map with "models"');
    return [];
  }
  const list = new OptionMap(source, root).allowOnly(['models']).node('models');
  if (!isSeq(list) || list.items.length < 1 || list.items.length > maxModels) {
    source.fault(list ?? root, `models: expected a list of 1 to ${maxModels} models`);
    return [];
  }
  return list.items.map((item) => source.resolve(item) ?? list);
}

function readText(path: string): string {
  try {
    if (statSync(path).size <= maxFileBytes) return readFileSync(path, 'utf8');
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : 'it cannot be read';
    throw new ModelsFileError(path, [{ line: undefined, message: `${reason} (MODELS_FILE names it)` }]);
  }
  throw new ModelsFileError(path, [{ line: undefined, message: 'it is larger than 1 MiB' }]);
}

import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';
import type { Operation } from './responses.js';

/** As the committed description has them, which is the same for every installation. */
const exampleBase = 'http://127.0.0.1:3000';
const exampleModel = 'demo/image/fractal';

/** The description as this installation serves it: with its own address, and its own models to choose from. */
export function servedDocument(
  document: OpenAPIObject,
  base: string,
  models: readonly string[],
): OpenAPIObject {
  const inJson = JSON.stringify(base).slice(1, -1);
  const served = JSON.parse(JSON.stringify(document).replaceAll(exampleBase, () => inJson)) as OpenAPIObject;
  const [first] = models;
  if (first === undefined) return served;
  const shown = models.includes(exampleModel) ? exampleModel : first;
  served.info.description = served.info.description!.replaceAll(exampleModel, () => shown);
  for (const operation of operationsOf(served)) {
    if (operation.operationId === 'submit') offerModels(operation, shown, models);
  }
  return served;
}

function offerModels(operation: Operation, shown: string, models: readonly string[]): void {
  for (const parameter of operation.parameters ?? []) {
    if (!('name' in parameter) || parameter.name !== 'model_id') continue;
    parameter.schema = { type: 'string', enum: [...models], example: shown };
  }
  const { requestBody } = operation;
  const body = requestBody && 'content' in requestBody ? requestBody.content['application/json'] : undefined;
  if (body === undefined || shown === exampleModel) return;
  body.examples = { input: { summary: `An input of ${shown}`, value: { prompt: 'a spiral of light' } } };
}

import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';
import { resolved } from './shared-parts.js';

/** The part of a model that the pages show. */
export interface ShownModel {
  readonly id: string;
  readonly description: string;
}

/** Values in the committed description, which is the same for every installation. */
const exampleBase = 'http://127.0.0.1:3000';
const exampleModel = 'demo/image/fractal';

/** Returns the description as this installation serves it: with its own address, and its own models to choose from. */
export function servedDocument(
  document: OpenAPIObject,
  base: string,
  models: readonly ShownModel[],
): OpenAPIObject {
  const inJson = JSON.stringify(base).slice(1, -1);
  const served = JSON.parse(JSON.stringify(document).replaceAll(exampleBase, () => inJson)) as OpenAPIObject;
  served.servers = [{ url: base, description: 'The service that this description comes from' }];
  if (models.length > 0) offerModels(served, models);
  return served;
}

function offerModels(served: OpenAPIObject, models: readonly ShownModel[]): void {
  const ids = models.map(({ id }) => id);
  const shown = ids.includes(exampleModel) ? exampleModel : ids[0]!;
  const { info } = served;
  const list = models.map(({ id, description }) => `- \`${id}\`${description && ` ${asText(description)}`}`);
  info.description = info
    .description!.replaceAll(exampleModel, () => shown)
    .replace(/\n(?=## Keys\n)/, () => `\n## Models\n\nThis service has:\n\n${list.join('\n')}\n\n`);
  for (const { operationId, parameters = [], requestBody } of operationsOf(served)) {
    for (const part of parameters) {
      const parameter = resolved(served, part);
      if (parameter.name !== 'model_id' || parameter.in !== 'path') continue;
      // No enum: a model that appears later needs no other client.
      parameter.schema = { ...parameter.schema, example: shown } as typeof parameter.schema;
      parameter.examples = Object.fromEntries(ids.map((id) => [id, { value: id }]));
    }
    if (operationId !== 'submitRequest' || shown === exampleModel) continue;
    const body =
      requestBody && 'content' in requestBody ? requestBody.content['application/json'] : undefined;
    if (body === undefined) continue;
    body.examples = { input: { summary: `An input of ${shown}`, value: { prompt: 'a spiral of light' } } };
  }
}

/** Returns the text on one line, with Markdown and HTML escaped. */
function asText(description: string): string {
  return description.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]<>()#+\-!|&]/g, (sign) => `\\${sign}`);
}

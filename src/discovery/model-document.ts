import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../http/openapi/operations.js';
import { resolved } from '../http/openapi/shared-parts.js';
import type { Model } from '../models/model.js';
import { embeddedSchemas } from './embedded-schema.js';

/** Operation ids in the full document. */
const operations = ['submitRequest', 'readStatus', 'fetchResponse', 'cancelRequest'];
const inputAt = '#/components/schemas/Input';
/** The base URL in the examples of the full document. */
const exampleBase = 'http://127.0.0.1:3000';
const exampleModel = 'demo/image/fractal';

/**
 * Returns an OpenAPI document for one model, with its input schema as the body, so that a generated client is typed.
 */
export function modelDocument(api: OpenAPIObject, model: Model, base: string): OpenAPIObject {
  const { id, description, inputSchema } = model;
  const text = JSON.stringify(api)
    .replaceAll(exampleBase, () => JSON.stringify(base).slice(1, -1))
    .replaceAll(exampleModel, id);
  const document = JSON.parse(text) as OpenAPIObject;
  document.info.title = id;
  document.info.description = description || `The model ${id}.`;
  document.servers = [{ url: base, description: 'The service that this description comes from' }];
  document.paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, item]) => {
      const methods = Object.entries(item as Record<string, { operationId?: string }>);
      const selected = methods.filter(([, { operationId = '' }]) => operations.includes(operationId));
      if (selected.length === 0) return [];
      return [[path === '/v1/queue/{model_id}' ? `/v1/queue/${id}` : path, Object.fromEntries(selected)]];
    }),
  );
  delete (document as { webhooks?: unknown }).webhooks;
  describeSubmission(document, model);
  const names = new Set(operationsOf(document).flatMap(({ tags = [] }) => tags));
  document.tags = document.tags?.filter(({ name }) => names.has(name));
  keepWhatIsUsed(document);
  const schemas = embeddedSchemas(inputSchema ?? { type: 'object' });
  schemas['Input'] = { description: `The input of ${id}.`, ...schemas['Input'] };
  Object.assign(document.components!.schemas!, schemas);
  return document;
}

function describeSubmission(document: OpenAPIObject, { id }: Model): void {
  const submission = operationsOf(document).find(({ operationId }) => operationId === 'submitRequest')!;
  submission.summary = `Submit a request to ${id}`;
  submission.parameters = submission.parameters?.filter(
    (parameter) => resolved(document, parameter).name !== 'model_id',
  );
  submission.requestBody = {
    description: 'The input of the model.',
    required: true,
    content: { 'application/json': { schema: { $ref: inputAt } } },
  };
}

/** Removes the components that nothing refers to. */
function keepWhatIsUsed(document: OpenAPIObject): void {
  const all = document.components as Record<string, Record<string, unknown>>;
  const used = new Set<string>();
  const look = (part: unknown): void => {
    for (const [, kind, name] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g)) {
      const key = `${kind} ${name}`;
      if (used.has(key)) continue;
      used.add(key);
      const component = all[kind!]?.[name!];
      if (component !== undefined) look(component);
    }
  };
  look(document.paths);
  for (const [kind, components] of Object.entries(all)) {
    if (kind === 'securitySchemes') continue;
    const selected = Object.entries(components).filter(([name]) => used.has(`${kind} ${name}`));
    all[kind] = Object.fromEntries(selected);
  }
}

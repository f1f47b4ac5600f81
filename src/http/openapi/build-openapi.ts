import { readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { completeOperations, operationsOf } from './complete-operations.js';
import type { PathItem } from './document-types.js';
import { openApiDescription } from './description.js';
import { headerComponents } from './headers.js';
import { AlreadyCompletedProblemDto, FieldErrorDto, ProblemDto } from './problem.dto.js';

const { version } = JSON.parse(readFileSync(packageFile(), 'utf8')) as { version: string };

/** The API as OpenAPI 3.1. The same for every installation: nothing in it depends on settings. */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Now Serving')
    .setDescription(openApiDescription)
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that this description came from')
    .addTag('Requests', 'Submit a request, look after it, cancel it, fetch its response.')
    .addTag('Stream', 'Follow the status of a request as it changes.')
    .addTag('Health', 'For load balancers and orchestrators. No key, no limit.')
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description:
          'The word `Key`, a space, and the API key: `Key ns_…`. On this page the key alone will do.',
      },
      'key',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'API key',
        description: 'The same API key as a bearer token.',
      },
      'bearer',
    )
    .build();
  const document = SwaggerModule.createDocument(app, builder, {
    extraModels: [ProblemDto, AlreadyCompletedProblemDto, FieldErrorDto],
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
  document.components = {
    ...document.components,
    schemas: {
      ...document.components?.schemas,
      JsonValue: { title: 'JsonValue', description: 'Any JSON value.' },
    },
    headers: headerComponents,
  };
  completeOperations(document);
  renameParameters(document);
  showFirst('submit', document);
  return document;
}

/** What Express and Node spell in their own way, as the reader of the API knows it. */
function renameParameters(document: OpenAPIObject): void {
  const names: Record<string, string> = {
    path: 'model_id',
    requestId: 'request_id',
    'last-event-id': 'Last-Event-ID',
  };
  document.paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path.replace(/\{\*?(\w+)\}/g, (_match, name: string) => `{${names[name] ?? name}}`),
      item,
    ]),
  );
  for (const operation of Object.values(document.paths).flatMap(operationsOf)) {
    for (const parameter of operation.parameters ?? []) {
      if ('name' in parameter) parameter.name = names[parameter.name] ?? parameter.name;
    }
  }
}

/** Express has to try the wildcard last; a reader begins with it. */
function showFirst(operationId: string, document: OpenAPIObject): void {
  const rank = (item: PathItem): number => (operationsOf(item)[0]?.operationId === operationId ? 0 : 1);
  const paths = Object.entries(document.paths).sort(([, a], [, b]) => rank(a) - rank(b));
  document.paths = Object.fromEntries(paths);
}

/** Beside src when run from the sources, beside dist when built. */
function packageFile(): URL {
  const depth = import.meta.url.includes('/dist/src/') ? '../../../../package.json' : '../../../package.json';
  return new URL(depth, import.meta.url);
}

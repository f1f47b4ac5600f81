import { readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { openApiDescription } from './description.js';
import { completeOperations } from './operations.js';
import { AlreadyCompletedProblemDto, FieldErrorDto, ProblemDto } from './problem.dto.js';
import { headerComponents } from './responses.js';

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
  showFirst('/v1/queue/{model_id}', document);
  return document;
}

/** Express has to try the wildcard last; a reader begins with it. */
function showFirst(wild: string, document: OpenAPIObject): void {
  const { [wild]: first, ...others } = document.paths;
  document.paths = { [wild]: first!, ...others };
}

/** Beside src when run from the sources, beside dist when built. */
function packageFile(): URL {
  const depth = import.meta.url.includes('/dist/src/') ? '../../../../package.json' : '../../../package.json';
  return new URL(depth, import.meta.url);
}

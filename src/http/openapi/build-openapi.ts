import { readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { completeOperations } from './complete-operations.js';
import { openApiDescription } from './description.js';
import { headerComponents } from './headers.js';
import { FieldErrorDto, ProblemDto } from './problem.dto.js';

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
        description: 'The word `Key`, a space, and the API key: `Key ns_…`.',
      },
      'key',
    )
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: 'The same API key as a bearer token.' },
      'bearer',
    )
    .build();
  const document = SwaggerModule.createDocument(app, builder, {
    extraModels: [ProblemDto, FieldErrorDto],
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
  document.components = { ...document.components, headers: headerComponents };
  completeOperations(document);
  nameModelPath(document);
  return document;
}

/** Express's wildcard as the one parameter that it is for the reader. */
function nameModelPath(document: OpenAPIObject): void {
  document.paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path.replace(/\{?\*path\}?|\{path\}/, '{model_id}'),
      item,
    ]),
  );
}

/** Beside src when run from the sources, beside dist when built. */
function packageFile(): URL {
  const depth = import.meta.url.includes('/dist/src/') ? '../../../../package.json' : '../../../package.json';
  return new URL(depth, import.meta.url);
}

import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Application } from 'express';
import { errorReference } from './error-reference.js';
import { buildOpenApi } from './build-openapi.js';

/** Serves /docs, /docs/errors and /openapi.json, all from this machine. The document is made when first asked for. */
export function serveDocs(app: NestExpressApplication): void {
  const page = errorReference();
  const express: Application = app.getHttpAdapter().getInstance();
  express.get('/docs/errors', (_request, response) => {
    response.type('text/html').send(page);
  });
  SwaggerModule.setup('docs', app, () => buildOpenApi(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Now Serving API',
    swaggerOptions: {
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      requestInterceptor: keepModelSlashes,
    },
  });
}

/**
 * Runs in the browser, from its source text: it may use nothing outside itself.
 * Swagger UI encodes the slashes of a model id, which makes it another model's.
 */
function keepModelSlashes(request: { url: string }): { url: string } {
  request.url = request.url.replace(/(\/v1\/queue\/)([^/?#]+)/, (_match, queue: string, model: string) => {
    return queue + model.replace(/%2F/gi, '/');
  });
  return request;
}

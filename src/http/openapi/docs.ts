import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Application, NextFunction, Request, Response } from 'express';
import { ClientAddress } from '../client-address.js';
import { buildOpenApi } from './build-openapi.js';
import { errorReference, viewport } from './error-reference.js';
import { servedDocument } from './served-document.js';

/**
 * Serves /docs, /docs/errors and /openapi.json, all from this machine. The document is made when first asked for;
 * `models` are the ids of those that it offers.
 */
export function serveDocs(app: NestExpressApplication, models: readonly string[]): void {
  const page = errorReference();
  const express: Application = app.getHttpAdapter().getInstance();
  const addresses = app.get(ClientAddress);
  express.get('/docs/errors', (_request, response) => {
    response.type('text/html').send(page);
  });
  express.get('/docs', fitToScreen);
  SwaggerModule.setup('docs', app, () => buildOpenApi(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Now Serving API',
    swaggerOptions: {
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      requestInterceptor: completeKey,
    },
    patchDocumentOnRequest: (request, _response, document) =>
      servedDocument(document, addresses.baseUrl(request as Request), models),
  });
}

/** The page of @nestjs/swagger does not say how wide it is, and a phone draws it at a third of its size. */
function fitToScreen(_request: Request, response: Response, next: NextFunction): void {
  const send = response.send.bind(response);
  response.send = (page: unknown) =>
    send(typeof page === 'string' ? page.replace('<head>', `<head>\n${viewport}`) : page);
  next();
}

/**
 * Runs in the browser, from its source text: it may use nothing outside itself.
 * A key that was entered under Authorize without its scheme gets one.
 */
function completeKey(request: { headers: Record<string, string> }): object {
  const key = (request.headers['Authorization'] ?? '').trim();
  if (/^\S+$/.test(key)) request.headers['Authorization'] = `Key ${key}`;
  return request;
}

import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Application, NextFunction, Request, Response } from 'express';
import { ClientAddress } from '../client-address.js';
import { buildOpenApi } from './build-openapi.js';
import { errorReference, viewport } from './error-reference.js';
import { operationsOf } from './operations.js';

/** As the committed description has them, which is the same for every installation. */
const exampleBase = 'http://127.0.0.1:3000';
const exampleModel = 'demo/image/fractal';

/** Serves /docs, /docs/errors and /openapi.json, all from this machine; made when first asked for. */
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

/** Gives a key that was entered without its scheme one. Runs in the browser, from its source text alone. */
function completeKey(request: { headers: Record<string, string> }): object {
  const key = (request.headers['Authorization'] ?? '').trim();
  if (/^\S+$/.test(key)) request.headers['Authorization'] = `Key ${key}`;
  return request;
}

/** The description as this installation serves it: with its own address, and its own models to choose from. */
function servedDocument(document: OpenAPIObject, base: string, models: readonly string[]): OpenAPIObject {
  const inJson = JSON.stringify(base).slice(1, -1);
  const served = JSON.parse(JSON.stringify(document).replaceAll(exampleBase, () => inJson)) as OpenAPIObject;
  const [first] = models;
  if (first === undefined) return served;
  const shown = models.includes(exampleModel) ? exampleModel : first;
  served.info.description = served.info.description!.replaceAll(exampleModel, () => shown);
  const submission = operationsOf(served).find(({ operationId }) => operationId === 'submit');
  if (submission === undefined) return served;
  const { parameters = [], requestBody } = submission;
  for (const parameter of parameters) {
    if (!('name' in parameter) || parameter.name !== 'model_id') continue;
    parameter.schema = { type: 'string', enum: [...models], example: shown };
  }
  const body = requestBody && 'content' in requestBody ? requestBody.content['application/json'] : undefined;
  if (body === undefined || shown === exampleModel) return served;
  body.examples = { input: { summary: `An input of ${shown}`, value: { prompt: 'a spiral of light' } } };
  return served;
}

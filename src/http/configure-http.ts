import type { Server, ServerOptions } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { onSentText } from '../internals/sent-texts.js';
import { AccessLog } from './access-log.js';
import { AnswerFields } from './answer-fields.js';
import { deferContinue } from './body-reader.js';
import { chargesOf } from './charges.js';
import { answerConnectionErrors } from './connection-errors.js';
import { ApiDocument } from './openapi/api-document.js';
import { buildOpenApi } from './openapi/build-openapi.js';
import { serveDocs } from './openapi/docs.js';
import type { ShownModel } from './openapi/served-document.js';
import { Draining, refuseWhileDraining } from './draining.js';
import { HttpConnections } from './http-connections.js';
import { hasOneHost } from './one-host.js';
import { QuietNestLogger } from './logging.module.js';
import { OtherApis } from './other-apis.js';
import { refuseUnserved } from './problem.filter.js';

/** How long a slow or silent client can hold a connection, in milliseconds. Node reads it when it begins to listen. */
const serverLimits = {
  headersTimeout: 20_000,
  // A body may take any time while its bytes move, which HttpConnections checks.
  requestTimeout: 0,
  // Interval at which the time of a head is checked.
  connectionsCheckingInterval: 5_000,
  // Node's own answer has no body and no X-Request-Id.
  requireHostHeader: false,
} satisfies ServerOptions;

/**
 * Installs everything between the socket and the guards, before `app` listens. `models`: the models that /docs offers.
 */
export function configureHttp(
  app: NestExpressApplication,
  models: () => readonly ShownModel[] = () => [],
): void {
  app.useLogger(app.get(QuietNestLogger));
  app.set('etag', false);
  app.disable('x-powered-by');
  onSentText(app.getHttpAdapter().getInstance(), (response, text) =>
    chargesOf(response.req)?.chargeAnswer(Buffer.byteLength(text)),
  );

  app.use(app.get(AccessLog).middleware);
  const fields = app.get(AnswerFields);
  app.use(fields.security());
  if (fields.cors !== undefined) app.use(fields.cors);
  app.use(refuseWithoutOneHost);
  app.use(refuseWhileDraining(app.get(Draining)));
  app.use(refuseUnserved(app.get(OtherApis)));
  serveDocs(app, models);
  app.get(ApiDocument).buildWith(() => buildOpenApi(app));

  const server: Server = app.getHttpServer();
  Object.assign(server, serverLimits, { keepAliveTimeout: app.get(Config).keepAliveTimeoutMs });
  deferContinue(server);
  answerConnectionErrors(server);
  app.get(HttpConnections).install(server);
}

function refuseWithoutOneHost(request: Request, _: Response, next: NextFunction): void {
  if (hasOneHost(request)) return next();
  const fault = request.headers.host === undefined ? 'is missing' : 'is there more than once. Send it once';
  next(new DomainError('bad_request', `The header "Host" ${fault}.`));
}

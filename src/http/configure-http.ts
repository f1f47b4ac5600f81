import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Config } from '../config/config.js';
import { AccessLog } from './access-log.js';
import { answerConnectionErrors } from './connection-errors.js';
import { corsOptions } from './cors-options.js';
import { serveDocs } from './openapi/docs.js';
import { Draining, refuseWhileDraining } from './draining.js';
import { deferContinue } from './expect-continue.js';
import { QuietNestLogger } from './quiet-nest-logger.js';
import { refuseReservedSubmit } from './reserved-path.js';
import { assignRequestId } from './request-id.js';
import { securityHeaders } from './security-headers.js';
import { limitServer } from './server-limits.js';

/**
 * Everything between the socket and the guards. `app` was made without a body parser and does not listen yet;
 * `models` are the ids that the API description offers.
 */
export function configureHttp(
  app: NestExpressApplication,
  config: Config,
  models: readonly string[] = [],
): void {
  app.useLogger(app.get(QuietNestLogger));
  app.set('trust proxy', config.trustProxy);
  app.set('etag', false);
  app.disable('x-powered-by');

  app.use(assignRequestId);
  app.use(app.get(AccessLog).middleware);
  app.use(securityHeaders(config.corsOrigins.length > 0));
  if (config.corsOrigins.length > 0) app.enableCors(corsOptions(config.corsOrigins));
  app.use(refuseWhileDraining(app.get(Draining)));
  app.use(refuseReservedSubmit);
  serveDocs(app, models);

  const server: Server = app.getHttpServer();
  limitServer(server);
  deferContinue(server);
  answerConnectionErrors(server);
}

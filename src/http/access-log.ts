import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { requestIdOf } from './request-id.js';

/** Asked for all day by machines: not worth a line at info. */
const chatter = /^\/(health|docs|openapi\.json)(\/|$)/;

/**
 * One line per exchange. The query is left out, for callers put secrets there, and so are headers and bodies.
 * Nothing is made before the answer has ended, since status polls come by the thousand.
 */
export function accessLog(logger: Logger) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const level = chatter.test(request.path) ? 'debug' : 'info';
    if (!logger.isLevelEnabled(level)) return next();
    const { method, path } = request;
    const start = performance.now();
    response.once('close', () => {
      const ended = response.writableFinished;
      logger[level](
        {
          requestId: requestIdOf(response),
          method,
          path,
          status: response.statusCode,
          code: response.locals['problemCode'] as string | undefined,
          durationMs: Math.round((performance.now() - start) * 10) / 10,
        },
        ended ? 'answered' : 'connection lost before the answer ended',
      );
    });
    next();
  };
}

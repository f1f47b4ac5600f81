import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { requestIdOf } from './request-id.js';

/** Asked for all day by machines: not worth a line at info. */
const chatter = /^\/(health|docs|openapi\.json)(\/|$)/;

/** What a line says that only the end of the exchange knows. */
export interface Ended {
  requestId: string;
  /** Of the problem that was answered. */
  code: string | undefined;
}

/**
 * One line per exchange. The query is left out, for callers put secrets there, and so are headers and bodies.
 * Nothing is made before the answer has ended, since status polls come by the thousand.
 */
export function logWhenAnswered(
  logger: Logger,
  { method }: IncomingMessage,
  response: ServerResponse,
  path: string,
  ended: () => Ended,
): void {
  const level = chatter.test(path) ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  const start = performance.now();
  response.on('close', () => {
    const { requestId, code } = ended();
    logger[level](
      {
        requestId,
        method,
        path,
        status: response.statusCode,
        code,
        durationMs: Math.round((performance.now() - start) * 10) / 10,
      },
      response.writableFinished ? 'answered' : 'connection lost before the answer ended',
    );
  });
}

export function accessLog(logger: Logger) {
  return (request: Request, response: Response, next: NextFunction): void => {
    logWhenAnswered(logger, request, response, request.path, () => ({
      requestId: requestIdOf(response),
      code: response.locals['problemCode'] as string | undefined,
    }));
    next();
  };
}

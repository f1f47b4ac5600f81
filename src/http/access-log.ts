import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { lineStart, writeLines } from '../internals/pino-lines.js';
import { Redaction } from '../tools/redaction.js';
import type { ProblemCode } from '../errors/problem-codes.js';
import { answeredCodes } from './problem.js';
import { PINO } from './logging.module.js';
import { chooseRequestId, requestIdHeader } from './request-id.js';

export interface AnsweredExchange {
  request: IncomingMessage;
  status: number;
  /** The code of the problem that answered it. */
  code: ProblemCode | undefined;
  /** The route, if Express did not take one. */
  route: string | undefined;
  durationMs: number;
}

/** Paths that machines ask for all day, which are not worth a line at info. */
const chatter = /^\/(health|metrics|docs|console|openapi\.json)(\/|$)/;

/**
 * One line per exchange. It has no query, because callers put secrets there, and no headers or bodies. The path has
 * handles in place of ids. So does the exchange's id, which may be a request's if its caller chose it. Lines of one
 * turn of the event loop are written together, without pino's methods: line by line it took a tenth of a submission.
 */
@Injectable()
export class AccessLog {
  /** Called for each exchange, whether it makes a line or not. */
  onExchange: ((exchange: AnsweredExchange) => void) | undefined;
  private lines = '';

  constructor(
    @Inject(PINO) private readonly logger: Logger,
    private readonly redaction: Redaction,
  ) {}

  /** Middleware for Express, which also gives the exchange its id. */
  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    const callId = chooseRequestId(request.headers['x-request-id']);
    response.setHeader(requestIdHeader, callId);
    this.follow(request, response, request.path, callId);
    next();
  };

  follow(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    callId: string,
    route?: string,
  ): void {
    const { method } = request;
    const level = chatter.test(path) ? 'debug' : 'info';
    const isLogged = this.logger.isLevelEnabled(level);
    if (!isLogged && this.onExchange === undefined) return;
    const start = performance.now();
    response.on('close', () => {
      const code = answeredCodes.get(response);
      const took = performance.now() - start;
      this.onExchange?.({ request, status: response.statusCode, code, route, durationMs: took });
      if (!isLogged) return;
      if (this.lines === '') setImmediate(() => this.write());
      const durationMs = Math.round(took * 10) / 10;
      const message = response.writableFinished ? 'answered' : 'connection lost before the answer ended';
      // An id that the caller chose may be that of a request.
      const isChosen = request.headers['x-request-id'] === callId;
      const id = isChosen ? this.redaction.path(callId) : callId;
      this.lines += `${lineStart(this.logger, level)},"callId":"${id}","method":"${method}","path":${JSON.stringify(this.redaction.path(path))},"status":${response.statusCode}`;
      if (code !== undefined) this.lines += `,"code":"${code}"`;
      this.lines += `,"durationMs":${durationMs},"msg":"${message}"}\n`;
    });
  }

  private write(): void {
    const { lines } = this;
    this.lines = '';
    writeLines(this.logger, lines);
  }
}

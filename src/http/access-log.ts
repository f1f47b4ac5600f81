import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Level, Logger } from 'pino';
import { lineStart, writeLines } from '../internals/pino-lines.js';
import { problemCodeOf } from './problem-answer.js';
import { PINO } from './quiet-nest-logger.js';
import { requestIdOf } from './request-id.js';

/** Asked for all day by machines: not worth a line at info. */
const chatter = /^\/(health|docs|openapi\.json)(\/|$)/;

interface Line {
  level: Level;
  requestId: string;
  method: string;
  path: string;
  status: number;
  code: string | undefined;
  durationMs: number;
  isWhole: boolean;
}

/**
 * One line per exchange. The query is left out, for callers put secrets there, and so are headers and bodies.
 * Nothing is made before the answer has ended, since status polls come by the thousand; and what ended in one turn of
 * the event loop is made into text together, past pino's methods: each line by itself took a tenth of a submission.
 */
@Injectable()
export class AccessLog {
  private ended: Line[] = [];

  constructor(@Inject(PINO) private readonly logger: Logger) {}

  /** For Express. */
  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    this.follow(request, response, request.path, requestIdOf(response));
    next();
  };

  follow({ method }: IncomingMessage, response: ServerResponse, path: string, requestId: string): void {
    const level = chatter.test(path) ? 'debug' : 'info';
    if (!this.logger.isLevelEnabled(level)) return;
    const start = performance.now();
    response.on('close', () => {
      this.add({
        level,
        requestId,
        method: method!,
        path,
        status: response.statusCode,
        code: problemCodeOf(response),
        durationMs: Math.round((performance.now() - start) * 10) / 10,
        isWhole: response.writableFinished,
      });
    });
  }

  private add(line: Line): void {
    this.ended.push(line);
    if (this.ended.length === 1) setImmediate(() => this.write());
  }

  private write(): void {
    let text = '';
    for (const { level, requestId, method, path, status, code, durationMs, isWhole } of this.ended) {
      text += `${lineStart(this.logger, level)},"requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"status":${status}`;
      if (code !== undefined) text += `,"code":"${code}"`;
      text += `,"durationMs":${durationMs},"msg":"${isWhole ? 'answered' : 'connection lost before the answer ended'}"}\n`;
    }
    this.ended = [];
    writeLines(this.logger, text);
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { Config } from '../config/config.js';
import { AccessLog } from './access-log.js';
import { CorsFields } from './cors-fields.js';
import { answerProblem, reportUnexpected } from './problem-answer.js';
import { PINO } from './quiet-nest-logger.js';
import { sendReply, setFields, type Reply } from './reply.js';
import { chooseRequestId, requestIdHeader } from './request-id.js';
import { apiSecurityFields } from './security-headers.js';
import { toDomainError } from './to-domain-error.js';

/** A call that is answered without Express: with the fields and the line in the log that every answer has. */
export class Exchange {
  private readonly requestId: string;
  private readonly fields: string[];
  private code: string | undefined;

  /** `fields`: names and values in turns. */
  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly logger: Logger,
    log: AccessLog,
    fields: readonly string[],
  ) {
    this.requestId = chooseRequestId(request.headers['x-request-id']);
    this.fields = [requestIdHeader, this.requestId, ...fields];
    const path = request.url!.split('?', 1)[0]!;
    log.follow(request, response, path, () => ({ requestId: this.requestId, code: this.code }));
  }

  setFields(fields: readonly string[]): void {
    this.fields.push(...fields);
  }

  answer(reply: Reply): void {
    sendReply(this.response, reply, this.fields);
  }

  fail(thrown: unknown): void {
    const error = toDomainError(thrown);
    if (error.code === 'internal_error') reportUnexpected(this.logger, error, this.request, this.requestId);
    if (this.response.headersSent) {
      if (!this.response.writableEnded) this.response.destroy();
      return;
    }
    this.code = error.code;
    setFields(this.response, this.fields);
    answerProblem(error, this.request.url!, this.response);
  }
}

@Injectable()
export class Exchanges {
  private readonly security: readonly string[];

  constructor(
    @Inject(PINO) private readonly logger: Logger,
    private readonly accessLog: AccessLog,
    private readonly cors: CorsFields,
    config: Config,
  ) {
    this.security = apiSecurityFields(config.corsOrigins.length > 0).flat();
  }

  begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const fields = [...this.security, ...this.cors.of(request.headers.origin)];
    return new Exchange(request, response, this.logger, this.accessLog, fields);
  }
}

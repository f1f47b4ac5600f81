import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { AccessLog } from './access-log.js';
import { AnswerFields } from './answer-fields.js';
import { answerProblem, toAnswer } from './problem-answer.js';
import { PINO } from './quiet-nest-logger.js';
import { sendReply, setFields, type Reply } from './reply.js';
import { chooseRequestId, requestIdHeader } from './request-id.js';

/** A call that is answered without Express: with the fields and the line in the log that every answer has. */
export class Exchange {
  private readonly requestId: string;
  private readonly fields: string[];

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
    log.follow(request, response, request.url!.split('?', 1)[0]!, this.requestId);
  }

  setFields(fields: readonly string[]): void {
    this.fields.push(...fields);
  }

  answer(reply: Reply): void {
    sendReply(this.response, reply, this.fields);
  }

  fail(thrown: unknown): void {
    const { request, response } = this;
    const error = toAnswer(thrown, request, response, this.requestId, this.logger);
    if (error === undefined) return;
    setFields(response, this.fields);
    answerProblem(error, request.url!, response);
  }
}

@Injectable()
export class Exchanges {
  constructor(
    @Inject(PINO) private readonly logger: Logger,
    private readonly accessLog: AccessLog,
    private readonly fields: AnswerFields,
  ) {}

  begin(request: IncomingMessage, response: ServerResponse): Exchange {
    return new Exchange(
      request,
      response,
      this.logger,
      this.accessLog,
      this.fields.of(request.headers.origin),
    );
  }
}

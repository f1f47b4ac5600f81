import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { AccessLog } from './access-log.js';
import { answerProblem, toAnswer } from './problem.js';
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

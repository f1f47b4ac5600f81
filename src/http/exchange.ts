import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { AccessLog } from './access-log.js';
import { answerProblem, reportUnexpected } from './problem-answer.js';
import { chooseRequestId, requestIdHeader } from './request-id.js';
import { toDomainError } from './to-domain-error.js';

/** A call that is answered without Express: with the fields and the line in the log that every answer has. */
export class Exchange {
  private readonly requestId: string;
  private readonly fields: string[];
  private code: string | undefined;

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

  /** Names and values in turns. */
  setFields(fields: readonly string[]): void {
    this.fields.push(...fields);
  }

  answer(status: number, body: object): void {
    const text = JSON.stringify(body);
    const bytes = Buffer.byteLength(text);
    this.fields.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(bytes));
    // All at once: as many calls of setHeader would take a third of the answer's time. As many bytes as characters
    // are ASCII, which need not be encoded.
    this.response.writeHead(status, this.fields).end(text, bytes === text.length ? 'latin1' : 'utf8');
  }

  fail(thrown: unknown): void {
    const error = toDomainError(thrown);
    if (error.code === 'internal_error') reportUnexpected(this.logger, error, this.request, this.requestId);
    if (this.response.headersSent) {
      if (!this.response.writableEnded) this.response.destroy();
      return;
    }
    this.code = error.code;
    for (let i = 0; i < this.fields.length; i += 2)
      this.response.setHeader(this.fields[i]!, this.fields[i + 1]!);
    answerProblem(error, this.request.url!, this.response);
  }
}

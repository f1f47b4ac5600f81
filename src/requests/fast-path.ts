import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { AccessLog } from '../http/access-log.js';
import { AnswerFields } from '../http/answer-fields.js';
import { ClientAddress } from '../http/client-address.js';
import { BodyReader } from '../http/body-reader.js';
import { Draining } from '../http/draining.js';
import { PINO } from '../http/logging.module.js';
import { answerProblem, toAnswer } from '../http/problem.js';
import { type Reply, sendReply, setFields } from '../http/reply.js';
import { chooseRequestId, requestIdHeader } from '../http/request-id.js';
import { Gate } from '../limits/gate.js';
import { modelIdOfPath } from './model-path.js';
import { RequestHandlers } from './request-handlers.js';

type FastCall =
  | { kind: 'submit'; modelId: string; query: object }
  | { kind: 'status'; requestId: string; query: { logs: string | undefined } };

/** As Express would have them. */
const routes = { submit: '/v1/queue/*model_id', status: '/v1/queue/requests/:request_id/status' };

/** As their routes have it in `@Limited`. */
const accessTo = {
  submit: { scope: 'submit', needsKey: true },
  status: { scope: 'read', needsKey: false },
} as const;

const none = Object.freeze({});
const submission = /^\/v1\/queue\/((?!requests(?:[/?]|$))[\w.~/%-]+?)\/?(?:\?|$)/;
const status = /^\/v1\/queue\/requests\/([0-9a-f-]{36})\/status(?:\?logs=(\w+))?$/;

/**
 * The two calls that come by the thousand, past the routers of Express and Nest, which would take longer than the
 * service. The gate and the handlers are those of `RequestsController`, to which everything else falls through.
 */
@Injectable()
export class FastPath {
  constructor(
    private readonly gate: Gate,
    private readonly handlers: RequestHandlers,
    private readonly bodies: BodyReader,
    private readonly addresses: ClientAddress,
    private readonly draining: Draining,
    private readonly accessLog: AccessLog,
    private readonly fields: AnswerFields,
    @Inject(PINO) private readonly logger: Logger,
  ) {}

  /** Puts itself before the listener that the server has. */
  install(server: Server): void {
    const [next] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const call = this.draining.isStarted ? undefined : fastCallOf(request);
      if (call === undefined) next!(request, response);
      else void this.serve(call, request, response);
    });
  }

  private async serve(call: FastCall, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fields = this.fields.of(request.headers.origin);
    const exchange = new Exchange(request, response, this.logger, this.accessLog, fields, routes[call.kind]);
    try {
      const entering = this.gate.enter(request, accessTo[call.kind], exchange);
      // Most often all of this is known at once: to wait for it would be a tenth of a status.
      const caller = entering instanceof Promise ? await entering : entering;
      const base = this.addresses.baseUrl(request);
      if (call.kind === 'status') {
        exchange.answer(await this.handlers.status(caller, call.requestId, call.query, base, response));
        return;
      }
      const { modelId, query } = call;
      // Not awaited by itself: while the call is held, this would keep its body.
      const submitting = this.bodies
        .read(request, response)
        // The gate lets nobody submit without a key.
        .then((body) => this.handlers.submit(caller!, modelId, body, request.headers, query, base, response));
      exchange.answer(await submitting);
    } catch (error) {
      exchange.fail(error);
    }
  }
}

/** undefined: it is neither, or has something about it that wants a closer look. */
function fastCallOf({ method, url, headers }: IncomingMessage): FastCall | undefined {
  if (headers.expect !== undefined) return undefined;
  if (method === 'POST') {
    const written = submission.exec(url!)?.[1];
    const modelId = written?.includes('%') === true ? modelIdOfPath(url!) : written;
    return modelId === undefined ? undefined : { kind: 'submit', modelId, query: queryOf(url!) };
  }
  if (method !== 'GET') return undefined;
  const [, requestId, logs] = status.exec(url!) ?? [];
  return requestId === undefined ? undefined : { kind: 'status', requestId, query: { logs } };
}

/** As Express makes it: a text, or several where a name is repeated. */
function queryOf(url: string): object {
  const mark = url.indexOf('?');
  return mark === -1 ? none : parse(url.slice(mark + 1));
}

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
    route?: string,
  ) {
    this.requestId = chooseRequestId(request.headers['x-request-id']);
    this.fields = [requestIdHeader, this.requestId, ...fields];
    log.follow(request, response, request.url!.split('?', 1)[0]!, this.requestId, route);
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

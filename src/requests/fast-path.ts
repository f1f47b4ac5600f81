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
import { hasOneHost } from '../http/one-host.js';
import { answerProblem, toAnswer } from '../http/problem.js';
import { type Reply, sendReply, setFields } from '../http/reply.js';
import { chooseRequestId, requestIdHeader } from '../http/request-id.js';
import { Gate } from '../limits/gate.js';
import { modelIdOfPath } from '../http/input/model-path.js';
import { RequestHandlers } from './request-handlers.js';

type FastCall =
  | { kind: 'submit'; modelId: string; query: object }
  | { kind: 'status'; requestId: string; query: { logs: string | undefined } };

/** The route patterns as Express would have them. */
const routes = { submit: '/v1/queue/*model_id', status: '/v1/queue/requests/:request_id/status' };

/** The access rules of the `@Limited` decorators of these routes. */
const accessTo = {
  submit: { scope: 'submit', needsKey: true },
  status: { scope: 'read', needsKey: false },
} as const;

const none = Object.freeze({});
const submission = /^\/v1\/queue\/((?!requests(?:[/?]|$))[\w.~/%-]+?)\/?(?:\?|$)/;
const status = /^\/v1\/queue\/requests\/([0-9a-f-]{36})\/status(?:\?logs=(\w+))?$/;

/**
 * Serves the two most frequent calls without the routers of Express and Nest, which would take longer than the service
 * itself. The gate and the handlers are those of `RequestsController`, which serves all other calls.
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

  /** Installs itself before the server's existing listener. */
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
      // Usually the caller is known at once. Awaiting it anyway would cost a tenth of a status call.
      const caller = entering instanceof Promise ? await entering : entering;
      const base = this.addresses.baseUrl(request);
      if (call.kind === 'status') {
        exchange.answer(await this.handlers.status(caller, call.requestId, call.query, base, response));
        return;
      }
      const { modelId, query } = call;
      // The body is not awaited on its own. A long poll would then keep its body in memory.
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

/** undefined: it is neither call, or it has something unusual that needs Express. */
function fastCallOf(request: IncomingMessage): FastCall | undefined {
  const { method, url, headers } = request;
  if (headers.expect !== undefined || !hasOneHost(request)) return undefined;
  if (method === 'POST') {
    const written = submission.exec(url!)?.[1];
    const modelId = written?.includes('%') === true ? modelIdOfPath(url!) : written;
    return modelId === undefined ? undefined : { kind: 'submit', modelId, query: queryOf(url!) };
  }
  if (method !== 'GET') return undefined;
  const [, requestId, logs] = status.exec(url!) ?? [];
  return requestId === undefined ? undefined : { kind: 'status', requestId, query: { logs } };
}

/** Parses a query as Express does: a text, or an array for a repeated name. */
function queryOf(url: string): object {
  const mark = url.indexOf('?');
  return mark === -1 ? none : parse(url.slice(mark + 1));
}

/** Answers a call without Express, with the header fields and the log line that every answer has. */
export class Exchange {
  private readonly requestId: string;
  private readonly fields: string[];

  /** `fields`: alternating names and values. */
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

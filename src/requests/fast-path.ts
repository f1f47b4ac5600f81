import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { assertMay } from '../auth/access.js';
import { CallerResolver } from '../auth/caller-resolver.js';
import type { Caller, Scope } from '../auth/caller.js';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { AccessLog } from '../http/access-log.js';
import { BodyReader } from '../http/body-reader.js';
import { Draining } from '../http/draining.js';
import { Exchange } from '../http/exchange.js';
import { PINO } from '../http/quiet-nest-logger.js';
import { apiSecurityFields } from '../http/security-headers.js';
import type { Admission } from '../rate-limit/admission.js';
import type { Accepted } from '../queue/queue.service.js';
import { CallCounter } from '../rate-limit/call-counter.js';
import { Ticket } from '../rate-limit/ticket.js';
import { parseIdempotencyKey } from './idempotency-key.js';
import { parseLogsQuery } from './logs-query.js';
import { toFastPathRequest, type FastPathRequest } from './fast-path-request.js';
import { baseUrl, requestUrls } from './request-urls.js';
import { RequestsService } from './requests.service.js';

/** A body that may be read before its call is counted. */
const smallBytes = 16 * 1024;

type Submit = FastPathRequest & { kind: 'submit' };
type Counted = Admission | Ticket | undefined;

/**
 * The two calls that come by the thousand, submission and status, without the routers of Express and Nest, in
 * which they spend more time than in the service. What the fast path does not match falls through to `RequestsController`, whose
 * answers are the same: an unusual path, a key that is missing or wrong, CORS, a host that a proxy forwards, a
 * stop under way.
 */
@Injectable()
export class FastPath {
  private readonly fields = apiSecurityFields(false).flat();

  constructor(
    private readonly requests: RequestsService,
    private readonly callers: CallerResolver,
    private readonly counter: CallCounter,
    private readonly bodies: BodyReader,
    private readonly draining: Draining,
    private readonly config: Config,
    private readonly accessLog: AccessLog,
    @Inject(PINO) private readonly logger: Logger,
  ) {}

  /** Puts itself before the listener that the server has. */
  install(server: Server): void {
    if (!this.mayServe()) return;
    const [next] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const call = this.draining.isStarted ? undefined : toFastPathRequest(request);
      if (call === undefined) next!(request, response);
      else void this.serve(call, request, response, next!);
    });
  }

  /** What a proxy forwards is for Express to read, and what browsers of other origins want, for its CORS. */
  private mayServe(): boolean {
    const { corsOrigins, trustProxy, publicBaseUrl } = this.config;
    return corsOrigins.length === 0 && (trustProxy === false || publicBaseUrl !== undefined);
  }

  private async serve(
    call: FastPathRequest,
    request: IncomingMessage,
    response: ServerResponse,
    next: RequestListener,
  ): Promise<void> {
    let exchange: Exchange | undefined;
    try {
      // Most often all of this is known at once: to wait for each would be a tenth of a status.
      const resolving = this.callers.resolve(request);
      const resolution = resolving instanceof Promise ? await resolving : resolving;
      if (resolution.kind !== 'caller') return next(request, response);
      exchange = new Exchange(request, response, this.logger, this.accessLog, this.fields);
      const { caller } = resolution;
      const counted = this.counter.tryCaller(caller, call.kind === 'submit' ? 'submit' : 'other');
      if (call.kind === 'submit') await this.submit(caller, call, counted, request, response, exchange);
      else await this.status(caller, call, counted, request, exchange);
    } catch (error) {
      (exchange ?? new Exchange(request, response, this.logger, this.accessLog, this.fields)).fail(error);
    }
  }

  /** The limits first, then the rights, as `Limited` has them. */
  private admit(caller: Caller, scope: Scope, admission: Admission | undefined, exchange: Exchange): void {
    if (admission !== undefined) {
      exchange.setFields(admission.fields);
      if (!admission.admitted) throw this.counter.refusal(admission);
    }
    assertMay(caller, scope);
  }

  private async submit(
    caller: Caller,
    call: Submit,
    counted: Counted,
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
  ): Promise<void> {
    let accepted: Accepted;
    if (counted instanceof Ticket && !counted.goesApart && this.mayCountAlong(request)) {
      accepted = await this.countAlong(counted, exchange, () => {
        assertMay(caller, 'submit');
        return this.accept(caller, call, request, response, counted);
      });
    } else {
      this.admit(caller, 'submit', counted instanceof Ticket ? await counted.count() : counted, exchange);
      accepted = await this.accept(caller, call, request, response);
    }
    const urls = requestUrls(this.base(request), accepted.id);
    exchange.setFields(['Location', urls.status_url]);
    if (accepted.replayed) exchange.setFields(['Idempotent-Replayed', 'true']);
    exchange.answer(202, { request_id: accepted.id, ...urls });
  }

  /** Of a call that is not counted yet, only a small body is read. */
  private mayCountAlong({ headers }: IncomingMessage): boolean {
    return (
      Number(headers['content-length']) <= smallBytes &&
      headers['content-encoding'] === undefined &&
      this.requests.wouldCountAlong
    );
  }

  /**
   * What is wrong with a call that was not counted yet is told only if there is room for it under the limits. Without
   * a database it cannot be counted, as it could not have been at first.
   */
  private async countAlong<T>(ticket: Ticket, exchange: Exchange, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (ticket.admission === undefined && !isUnavailable(error)) await ticket.pay();
      throw error;
    } finally {
      if (ticket.admission !== undefined) exchange.setFields(ticket.admission.fields);
    }
  }

  private async accept(
    caller: Caller,
    { modelId }: Submit,
    request: IncomingMessage,
    response: ServerResponse,
    ticket?: Ticket,
  ): Promise<Accepted> {
    return this.requests.submit(
      caller,
      modelId,
      await this.bodies.read(request, response),
      parseIdempotencyKey(request.headers['idempotency-key']),
      ticket,
    );
  }

  private async status(
    caller: Caller,
    { requestId, logs }: FastPathRequest & { kind: 'status' },
    counted: Counted,
    request: IncomingMessage,
    exchange: Exchange,
  ): Promise<void> {
    this.admit(caller, 'read', counted instanceof Ticket ? await counted.count() : counted, exchange);
    const view = await this.requests.status(caller, requestId, parseLogsQuery(logs), this.base(request));
    exchange.answer(200, view);
  }

  private base({ headers, socket }: IncomingMessage): string {
    return baseUrl({ host: headers.host, secure: false, socket }, this.config);
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'unavailable';
}

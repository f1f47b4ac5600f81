import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Application, NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { DomainError } from '../errors/domain-error.js';
import { routesTo } from '../internals/routes.js';
import { PINO } from './logging.module.js';
import { notServed, type OtherApi, OtherApis } from './other-apis.js';
import { toAnswer } from './problem.js';
import { requestIdOf } from './request-id.js';

/** Below these paths there are requests, never a model, so wildcard routes do not count. */
const ownRequests = /^\/v1\/queue\/requests(?:\/|$)/;

/** Answers every error of every route, known or not. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    @Inject(PINO) private readonly logger: Logger,
    private readonly apis: OtherApis,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = toAnswer(thrown, request, response, requestIdOf(response), this.logger);
    const known = error?.code === 'not_found' ? this.unrouted(error, request, response) : error;
    if (known !== undefined) this.apis.answer(known, request, response);
  }

  /** Distinguishes a known path under another method from a path that is not served. undefined: the call is answered. */
  private unrouted(
    cause: DomainError,
    { app, method, originalUrl }: Request,
    response: Response,
  ): DomainError | undefined {
    const path = originalUrl.split('?', 1)[0]!;
    const api = this.apis.of(path);
    const methods = servedMethods(app, path, isOfRequests(path, api));
    if (methods.length > 0) response.setHeader('Allow', methods.join(', '));
    if (methods.length > 0 && method === 'OPTIONS') return void response.status(204).end();
    if (api !== undefined && (methods.length === 0 || api.otherMethod === 'not_found'))
      return notServed(api, `${path} (${method})`, cause);
    if (methods.length === 0) return new DomainError('not_found', `Nothing is served at ${path}.`, { cause });
    return new DomainError('method_not_allowed', `${path} takes ${methods.join(', ')}, not ${method}.`);
  }
}

const isOfRequests = (path: string, api: OtherApi | undefined): boolean =>
  (api === undefined ? ownRequests : api.requestPaths)?.test(path) === true;

/** Returns the methods that a path is served under, by its most literal routes; empty if it is not served at all. */
function servedMethods(app: Application, path: string, ofRequests: boolean): string[] {
  const [literal, withParameter, wild] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { pattern, methods } of routesTo(app, path)) {
    const kind = pattern.includes(':') ? withParameter : pattern.includes('*') ? wild : literal;
    for (const method of methods) kind.add(method);
  }
  const named = literal.size > 0 ? literal : withParameter;
  const found = named.size > 0 || ofRequests ? named : wild;
  if (found.has('GET')) found.add('HEAD');
  return [...found].sort();
}

/**
 * Runs before the guards, which would ask for a key, and before routes that would take a word for an id. The filter
 * then reports which methods the path takes.
 */
export const refuseUnserved =
  (apis: OtherApis) =>
  ({ app, method, path }: Request, _response: Response, next: NextFunction): void => {
    const ofRequests = isOfRequests(path, apis.of(path));
    if (!isEncodedRight(path)) return next(unnamed(path, ofRequests));
    const refused = ofRequests && !servedMethods(app, path, true).includes(method);
    next(refused ? new DomainError('not_found', 'Nothing is served here.') : undefined);
  };

function isEncodedRight(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns the error for a path that cannot be decoded: it names nothing. */
function unnamed(path: string, ofRequests: boolean): DomainError {
  const detail = `${path} is not percent-encoded correctly. Write % as %25.`;
  if (ofRequests) return new DomainError('unknown_request', detail);
  return new DomainError(path.startsWith('/v1/queue/') ? 'unknown_model' : 'not_found', detail);
}

import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';
import { answerProblem } from './problem.js';

/** The API of another service, as far as the HTTP layer has to know it. */
export interface OtherApi {
  /** The first segment of its paths, in lower case, whether they are served or not. */
  root: string;
  /** Writes an error in its form. */
  answerError: (error: DomainError, request: Request, response: Response) => void;
  /** The page of the documentation that lists what is served. */
  page: string;
  /** The answer to a known path under a method that it does not take. */
  otherMethod: 'not_found' | 'method_not_allowed';
  /** Paths of requests. Routes with a wildcard do not serve them. */
  requestPaths?: RegExp;
  /** The routes on which a POST submits, as the metrics name them. */
  submitRoutes: readonly string[];
  /** Header fields that its clients send, and read, in a browser, besides those of the service's own API. */
  requestFields: readonly string[];
  answerFields: readonly string[];
}

/** A pattern for the id of a request in a path. */
export const requestIdPattern = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The APIs of other services that this node serves, each below a root of its own. */
@Injectable()
export class OtherApis {
  private readonly byRoot = new Map<string, OtherApi>();

  register(api: OtherApi): void {
    this.byRoot.set(api.root, api);
  }

  /** undefined: the path belongs to the service's own API. */
  of(path: string): OtherApi | undefined {
    // Routes match in upper and lower case.
    return this.byRoot.size === 0 ? undefined : this.byRoot.get(path.split('/', 2)[1]?.toLowerCase() ?? '');
  }

  /** Writes an error as problem+json, or in the form of another API on its paths. */
  answer(error: DomainError, request: Request, response: Response): void {
    const api = this.of(request.path);
    if (api === undefined) answerProblem(error, request.originalUrl, response);
    else api.answerError(error, request, response);
  }

  /** The header fields of a kind that clients of all these APIs have. */
  fieldsOf(kind: 'requestFields' | 'answerFields'): readonly string[] {
    return [...this.byRoot.values()].flatMap((api) => api[kind]);
  }

  isSubmitRoute(label: string): boolean {
    return this.of(label)?.submitRoutes.includes(label) === true;
  }
}

/** The error for a call that another API has and this service does not. */
export function notServed({ page }: OtherApi, what: string, cause?: unknown): DomainError {
  return new DomainError('not_found', `${what} is not served here. ${page} lists what is served.`, { cause });
}

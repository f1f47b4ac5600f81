import { Injectable } from '@nestjs/common';
import cors from 'cors';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { Config } from '../config/config.js';
import { errorStyleSource } from './openapi/error-reference.js';
import { OtherApis } from './other-apis.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { setFields } from './reply.js';

const maxOrigins = 1_000;

/** The fields that `helmet` and `cors` give every answer, as names and values in turn. */
@Injectable()
export class AnswerFields {
  private readonly api: readonly string[];
  private readonly byOrigin = new BoundedCache<readonly string[]>(maxOrigins);
  private corsHandler: RequestHandler | undefined;

  constructor(
    private readonly config: Config,
    private readonly apis: OtherApis,
  ) {
    this.api = securityFields(
      { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      { shared: config.corsOrigins.length > 0 },
    );
  }

  /** undefined: CORS is off. Made at the first use, because other APIs have added their fields by then. */
  get cors(): RequestHandler | undefined {
    const { corsOrigins } = this.config;
    if (corsOrigins.length === 0) return undefined;
    return (this.corsHandler ??= cors({
      origin: corsOrigins.includes('*') ? '*' : corsOrigins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: [
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'If-Match',
        'If-None-Match',
        'If-Range',
        'Last-Event-ID',
        'Lease-Token',
        'Prefer',
        'Range',
        'Traceparent',
        'Tracestate',
        'X-Request-Id',
        ...this.apis.fieldsOf('requestFields'),
      ],
      exposedHeaders: [
        'X-Request-Id,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,RateLimit,RateLimit-Policy',
        'Retry-After,Location,Link,Allow,WWW-Authenticate,Idempotent-Replayed,Preference-Applied',
        'ETag,Content-Range,Accept-Ranges,Content-Disposition',
        ...this.apis.fieldsOf('answerFields'),
      ].join(','),
      // Seconds that a browser may keep the answer to a preflight.
      maxAge: 600,
    }));
  }

  /** For Express. Only the pages at /docs and /console are rendered, and they load nothing from elsewhere. */
  security(): RequestHandler {
    const docs = securityFields(
      {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        connectSrc: ["'self'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:'],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", errorStyleSource],
      },
      { scripts: true },
    );
    const console = securityFields(
      {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        mediaSrc: ["'self'", 'data:', 'blob:'],
        connectSrc: ["'self'"],
        baseUri: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
      { scripts: true },
    );
    const isConsole = /^\/console(\/|$)/;
    return (request: Request, response: Response, next: NextFunction): void => {
      const { path } = request;
      setFields(response, path.startsWith('/docs') ? docs : isConsole.test(path) ? console : this.api);
      next();
    };
  }

  /** Returns the fields without Express, for a call from this origin. */
  of(origin = ''): readonly string[] {
    if (this.cors === undefined) return this.api;
    let fields = this.byOrigin.get(origin, 0);
    if (fields === undefined) {
      fields = [...this.api, ...fieldsOf(this.cors, origin)];
      this.byOrigin.set(origin, fields, Infinity);
    }
    return fields;
  }
}

/** No HSTS and no `upgrade-insecure-requests`: they would break a service that is reached by plain HTTP. */
function securityFields(
  policy: Record<string, string[]>,
  { shared = false, scripts = false },
): readonly string[] {
  const handler = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: policy },
    // A page without scripts does not need these two, and each field takes half a microsecond of every answer.
    crossOriginOpenerPolicy: scripts,
    originAgentCluster: scripts,
    crossOriginResourcePolicy: { policy: shared ? 'cross-origin' : 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: false,
    xDownloadOptions: false,
    xDnsPrefetchControl: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  // Only the policy has semicolons. helmet writes no space after them, unlike people and proxies.
  const fields = fieldsOf(handler).map((text) => text.replaceAll(/; */g, '; '));
  return ['Cache-Control', 'no-store', ...fields];
}

/** Returns what a handler sets. It is the same for every call from an origin, so the handler is called once. */
function fieldsOf(handler: RequestHandler, origin = ''): string[] {
  const set = new Map<string, string>();
  const request = { method: 'GET', headers: origin === '' ? {} : { origin } };
  const recorder = {
    getHeader: (name: string) => set.get(name),
    setHeader: (name: string, value: string) => set.set(name, value),
    removeHeader: () => undefined,
  };
  void handler(request as Request, recorder as unknown as Response, (error: unknown) => {
    if (error instanceof Error) throw error;
  });
  return [...set].flat();
}

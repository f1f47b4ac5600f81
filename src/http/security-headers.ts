import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';

/**
 * No HSTS and no `upgrade-insecure-requests`: whether there is TLS is the proxy's to say, and either would
 * break a service that is reached by plain HTTP.
 */
function fields(
  policy: Record<string, string[]>,
  { shared = false, scripts = false } = {},
): [name: string, value: string][] {
  return fieldsOf(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: policy },
      // Of these two a page without scripts makes nothing, and each field is half a microsecond of every answer.
      crossOriginOpenerPolicy: scripts,
      originAgentCluster: scripts,
      crossOriginResourcePolicy: { policy: shared ? 'cross-origin' : 'same-origin' },
      referrerPolicy: { policy: 'no-referrer' },
      strictTransportSecurity: false,
      xDownloadOptions: false,
      xDnsPrefetchControl: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
}

/** What the handler sets is the same for every answer, so it is asked once. */
function fieldsOf(handler: RequestHandler): [name: string, value: string][] {
  const set: [string, string][] = [];
  const recorder = {
    setHeader: (name: string, value: string) => set.push([name, value]),
    removeHeader: () => undefined,
  };
  handler({} as Request, recorder as unknown as Response, (error: unknown) => {
    if (error instanceof Error) throw error;
  });
  return set;
}

export function apiSecurityFields(shared: boolean): [name: string, value: string][] {
  return [
    ['Cache-Control', 'no-store'],
    ...fields({ defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, { shared }),
  ];
}

/** Answers are never rendered, save for /docs, which brings its own scripts and inline styles. */
export function securityHeaders(shared: boolean): RequestHandler {
  const api = apiSecurityFields(shared);
  const docs: typeof api = [
    ['Cache-Control', 'no-store'],
    ...fields(
      {
        defaultSrc: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
      },
      { scripts: true },
    ),
  ];
  return (request: Request, response: Response, next: NextFunction): void => {
    for (const [name, value] of request.path.startsWith('/docs') ? docs : api)
      response.setHeader(name, value);
    next();
  };
}

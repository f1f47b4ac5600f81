import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';

/**
 * No HSTS and no `upgrade-insecure-requests`: whether there is TLS is the proxy's to say, and either would
 * break a service that is reached by plain HTTP.
 */
function headers(policy: Record<string, string[]>, shared: boolean): RequestHandler {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives: policy },
    crossOriginResourcePolicy: { policy: shared ? 'cross-origin' : 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: false,
    xDownloadOptions: false,
    xDnsPrefetchControl: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
}

/** Answers are never rendered, save for /docs, which brings its own scripts and inline styles. */
export function securityHeaders(shared: boolean): RequestHandler {
  const api = headers({ defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, shared);
  const docs = headers(
    {
      defaultSrc: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
      imgSrc: ["'self'", 'data:'],
      objectSrc: ["'none'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
    },
    false,
  );
  return (request: Request, response: Response, next: NextFunction): void => {
    response.setHeader('Cache-Control', 'no-store');
    (request.path.startsWith('/docs') ? docs : api)(request, response, next);
  };
}

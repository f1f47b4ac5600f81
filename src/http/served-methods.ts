import type { Application, NextFunction, Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** Below it there are requests, never a model: the wildcard route of submissions does not reach there. */
const reserved = /^\/v1\/queue\/requests(?:\/|$)/;

/** What of Express's router is needed; its own types do not show the matching. */
interface RouterLayer {
  route?: { path: unknown; methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

/** The methods that a path is served under; empty if it is not served at all. */
export function servedMethods(app: Application, path: string): string[] {
  const exact = new Set<string>();
  const wild = new Set<string>();
  for (const layer of app.router.stack as unknown as RouterLayer[]) {
    if (layer.route === undefined || !matches(layer, path)) continue;
    const methods = String(layer.route.path).includes('*') ? wild : exact;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  const found = exact.size > 0 || reserved.test(path) ? exact : wild;
  if (found.has('GET')) found.add('HEAD');
  return [...found].sort();
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path) !== false;
  } catch {
    return false; // broken percent-encoding
  }
}

/** Before the guards, which would ask for a key to submit with. The filter tells which methods the path takes. */
export function refuseReservedSubmit(request: Request, _response: Response, next: NextFunction): void {
  const refused = request.method === 'POST' && reserved.test(request.path);
  next(refused ? new DomainError('not_found', 'Nothing is submitted here.') : undefined);
}

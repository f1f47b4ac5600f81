import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Pages served without their own routes. */
const pages = /^\/(docs|console)(?=\/|$)/;
const templates = new Map<string, string>();

/** The method label as OpenTelemetry defines it. */
export const methodLabel = ({ method = '' }: IncomingMessage): string =>
  methods.has(method) ? method : '_OTHER';

/** Returns the template of the route that answered, never the path: `/v1/queue/requests/{request_id}/status`. */
export function routeLabel(request: IncomingMessage, route?: string): string {
  const path = route ?? String((request as Partial<Request>).route?.path ?? '');
  if (path === '' || path.startsWith('/{')) {
    const page = pages.exec((request as Partial<Request>).path ?? '')?.[0];
    return page ?? 'none';
  }
  let label = templates.get(path);
  // At most one entry per route.
  if (label === undefined) templates.set(path, (label = path.replaceAll(/[:*](\w+)/g, '{$1}')));
  return label;
}

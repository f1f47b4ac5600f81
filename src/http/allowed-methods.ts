import type { Application } from 'express';
import { isReserved } from './reserved-path.js';

/** What of Express's router is needed; its own types do not show the matching. */
interface RouterLayer {
  route?: { path: unknown; methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

/** The methods that a path is served under; empty if it is not served at all. */
export function allowedMethods(app: Application, path: string): string[] {
  const exact = new Set<string>();
  const wild = new Set<string>();
  for (const layer of app.router.stack as unknown as RouterLayer[]) {
    if (layer.route === undefined || !matches(layer, path)) continue;
    const methods = String(layer.route.path).includes('*') ? wild : exact;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  const found = exact.size > 0 || isReserved(path) ? exact : wild;
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

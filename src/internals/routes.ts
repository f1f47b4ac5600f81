// Relies on an Express internal: its router's layers, whose matching its types do not show.
import type { Application } from 'express';

interface RouterLayer {
  route?: { path: unknown; methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

interface Route {
  /** The pattern as it was given to Express. */
  pattern: string;
  methods: string[];
}

/** Returns the routes that match a path, under any method, in their order. */
export function routesTo(app: Application, path: string): Route[] {
  return (app.router.stack as unknown as RouterLayer[]).flatMap((layer) => {
    if (layer.route === undefined || !matches(layer, path)) return [];
    const methods = Object.keys(layer.route.methods).map((method) => method.toUpperCase());
    return [{ pattern: String(layer.route.path), methods }];
  });
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path) !== false;
  } catch {
    return false; // invalid percent-encoding
  }
}

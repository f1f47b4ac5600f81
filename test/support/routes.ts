import type { TestService } from './index.js';

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
}

/** Returns every route of the service, such as `GET /v1/models`. */
export function routesOf({ app }: TestService): string[] {
  const { stack } = (app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } }).router;
  return stack.flatMap(({ route }) =>
    route === undefined ? [] : methodsOf(route).map((method) => `${method} ${route.path}`),
  );
}

function methodsOf({ methods }: NonNullable<Layer['route']>): string[] {
  const names = Object.keys(methods).map((method) => method.toUpperCase());
  return names.includes('PROPFIND') ? ['ALL'] : names;
}

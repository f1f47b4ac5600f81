import type { Server } from 'node:http';

export interface ServerLimits {
  /** Longer than the 60 s of common proxies, so that the proxy closes an idle connection, never the service. */
  keepAliveMs: number;
  headersMs: number;
  /** For a whole request to arrive: 10 MiB at 1 Mbit/s takes 84 s. */
  requestMs: number;
  /** How often the two above are looked at. */
  checkMs: number;
}

const defaults: ServerLimits = { keepAliveMs: 75_000, headersMs: 20_000, requestMs: 120_000, checkMs: 5_000 };

/** Bounds how long a slow or silent client can hold a connection. Call it before the server listens. */
export function limitServer(server: Server, limits: ServerLimits = defaults): void {
  server.keepAliveTimeout = limits.keepAliveMs;
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  // Node reads it when the server begins to listen; it is documented as an option of createServer only.
  Object.assign(server, { connectionsCheckingInterval: limits.checkMs });
}

import type { Server } from 'node:http';

export interface TestProvider {
  issuer: string;
  server: Server;
  /** What people are in; who is not in it has no such claim. */
  groups: Map<string, string[]>;
  stop(): Promise<void>;
}

export const client: { id: string; secret: string };

/** A real provider of OpenID Connect on 127.0.0.1, with people of any name. `port` 0: any. */
export function startProvider(port?: number): Promise<TestProvider>;

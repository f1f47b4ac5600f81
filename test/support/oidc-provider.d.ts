import type { Server } from 'node:http';

export interface TestProvider {
  issuer: string;
  server: Server;
  /** The groups of each user. A user without an entry has no such claim. */
  groups: Map<string, string[]>;
  stop(): Promise<void>;
}

export const client: { id: string; secret: string };

/** A real OpenID Connect provider on 127.0.0.1, where any user name works. `port` 0: any. */
export function startProvider(port?: number): Promise<TestProvider>;

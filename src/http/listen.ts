import { once } from 'node:events';
import type { Server } from 'node:http';
import { isIP } from 'node:net';
import type { Config } from '../config/config.js';

/**
 * Connections that the system keeps until this process accepts them, as far as it allows so many (on Linux
 * net.core.somaxconn, by default 4,096). Node's default is 511. A burst of callers fills that within half a second in
 * which the event loop is busy, and a client whose connection is dropped tries again only after 1, 3, 7 and 15 seconds.
 */
const backlog = 4_096;

/** Does not use Nest's own method, which logs a failure besides throwing it. */
export async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  server.listen({ port, host, backlog });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new Error(explain(error, host, port), { cause: error });
  });
}

/** A server that listens on one of these is reached at all addresses of its machine. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the URL at which this machine reaches a server that listens on `host`, which is an address or a name. */
export const localUrl = (host: string, port: number): string =>
  `http://${hostAndPort(loopbackOf[host] ?? host, port)}`;

export const hostAndPort = (host: string, port: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

function explain({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use. Stop what uses it, or set PORT to another one (0 takes any that is free).`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Set PORT to 1024 or above.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set HOST to one, or to 0.0.0.0 for all of them.`;
    default:
      return `The service cannot listen on ${host}:${port}: ${message}`;
  }
}

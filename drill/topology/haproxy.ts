import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Daemon } from './daemon.js';

interface Server {
  name: string;
  /** Ports of PostgreSQL and of Patroni's REST API. */
  postgres: number;
  rest: number;
}

/** HAProxy in front of PostgreSQL: connections go to the server whose Patroni says that it is the primary. */
export function haproxyOf(
  program: string,
  directory: string,
  port: number,
  servers: readonly Server[],
): Daemon {
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, haproxyConfiguration(port, servers));
  return new Daemon({ name: 'haproxy', program, args: ['-q', '-db', '-f', file], directory });
}

/** `shutdown-sessions`: sessions end with the first sign that their server is no primary any more. */
export function haproxyConfiguration(port: number, servers: readonly Server[]): string {
  const lines = servers.map(
    ({ name, postgres, rest }) => `    server ${name} 127.0.0.1:${postgres} check port ${rest}`,
  );
  return `listen primary
    bind 127.0.0.1:${port}
    mode tcp
    timeout connect 2s
    timeout client 30m
    timeout server 30m
    timeout check 2s
    option httpchk GET /primary
    http-check expect status 200
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${lines.join('\n')}
`;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { within } from '../clock.js';
import { freePort } from './free-port.js';

/** PgBouncer in transaction mode, as Debian packages it, in front of the server on `serverPort`. */
export class PgBouncer {
  readonly port: number;
  private child: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  /** `settings`: additional lines of its configuration. */
  static async start(
    directory: string,
    serverPort: number,
    password: string,
    settings = '',
  ): Promise<PgBouncer> {
    const bouncer = new PgBouncer(await freePort());
    const file = join(directory, 'pgbouncer.ini');
    writeFileSync(file, configuration(bouncer.port, serverPort, password) + settings);
    chmodSync(file, 0o644);
    // A process of root has to change its user.
    const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    bouncer.child = spawn('pgbouncer', ['-q', ...user, file], { stdio: 'ignore' });
    const { child } = bouncer;
    child.once('error', () => undefined);
    if (!(await within(10_000, () => accepts(bouncer.port)))) {
      throw new Error('PgBouncer does not listen; is it installed?');
    }
    return bouncer;
  }

  abandon(): void {
    this.child?.kill('SIGKILL');
  }
}

/**
 * `server_login_retry` and `query_wait_timeout` are 15 s and 120 s by default: with those no node would be back within
 * 10 s of the database.
 */
function configuration(port: number, serverPort: number, password: string): string {
  return `[databases]
* = host=127.0.0.1 port=${serverPort} user=postgres password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
server_login_retry = 1
server_connect_timeout = 3
query_wait_timeout = 5
ignore_startup_parameters = extra_float_digits
`;
}

/** Returns whether something listens on the port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

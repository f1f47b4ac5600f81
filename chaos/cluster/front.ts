import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { within } from '../clock.js';
import { freePort } from './free-port.js';
import { accepts } from './pgbouncer.js';
import { ServiceNode } from './service-node.js';

/** Logs changes of a node's health, and calls that failed. */
const logging = '    log stdout format iso local0\n    option httplog\n    option dontlog-normal\n';

/** HAProxy by the sample in deploy/, through which callers reach the nodes. A node that is not ready gets no calls. */
export class Front {
  private constructor(
    /** The proxy, as callers see it: a node that is never away. */
    readonly node: ServiceNode,
    private readonly child: ChildProcess,
  ) {}

  static async start(root: string, directory: string, nodes: readonly ServiceNode[]): Promise<Front> {
    const port = await freePort();
    const servers = nodes.map(({ name, url }) => `    server ${name} ${new URL(url).host}\n`);
    const sample = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8');
    const file = join(directory, 'haproxy.cfg');
    writeFileSync(
      file,
      sample
        .replace('bind :8080', `bind 127.0.0.1:${port}`)
        .replace('    mode http\n', `    mode http\n${logging}`)
        .replace(/^ +server .*\n/gm, '') + servers.join(''),
    );
    const path = `${process.env['PATH']}:/usr/sbin`;
    const log = openSync(join(directory, 'haproxy.log'), 'a');
    const child = spawn('haproxy', ['-db', '-f', file], {
      env: { PATH: path },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.once('error', () => undefined);
    const node = new ServiceNode({ name: 'front', role: 'api', root, directory, environment: {} });
    node.url = `http://127.0.0.1:${port}`;
    if (!(await within(10_000, () => accepts(port))))
      throw new Error('HAProxy does not listen; is it installed?');
    return new Front(node, child);
  }

  abandon(): void {
    this.child.kill('SIGKILL');
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../chaos/cluster/free-port.js';
import { afterEachFile } from './after-each-file.js';
import { temporaryDirectory } from './data-directory.js';
import { until } from './until.js';

const running = new Set<ChildProcess>();
afterEachFile('first', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The address at which each sample of deploy/ listens, and how its program is started in the foreground. */
const programs = {
  nginx: {
    sample: 'deploy/nginx.conf',
    listens: (text: string, port: number) => text.replace('listen 8080;', `listen 127.0.0.1:${port};`),
    /** The sample is a part of nginx's whole configuration. */
    whole: (text: string, directory: string) => `
      daemon off;
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      pid ${directory}/nginx.pid;
      error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path ${directory}/body;
        proxy_temp_path ${directory}/proxy;
        fastcgi_temp_path ${directory}/fastcgi;
        uwsgi_temp_path ${directory}/uwsgi;
        scgi_temp_path ${directory}/scgi;
        ${text}
      }`,
    command: (file: string) => ['nginx', '-c', file],
  },
  caddy: {
    sample: 'deploy/Caddyfile',
    listens: (text: string, port: number) => text.replace('queue.example.org', `http://127.0.0.1:${port}`),
    whole: (text: string) => `{\n\tadmin off\n}\n${text}`,
    command: (file: string) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
  haproxy: {
    sample: 'deploy/haproxy.cfg',
    listens: (text: string, port: number) => text.replace('bind :8080', `bind 127.0.0.1:${port}`),
    whole: (text: string) => text,
    command: (file: string) => ['haproxy', '-q', '-db', '-f', file],
  },
} as const;

export type ProxyName = keyof typeof programs;
export const proxyNames = Object.keys(programs) as ProxyName[];

export const sampleOf = (name: ProxyName): string => readFileSync(programs[name].sample, 'utf8');

/** A proxy by a sample in deploy/, in front of nodes at these ports of this machine. */
export class ProxyProgram {
  private said = '';

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {
    running.add(child);
    child.once('exit', () => running.delete(child));
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    child.once('error', (error) => (this.said += error.message));
  }

  /** Returns what the program has logged. */
  get log(): string {
    return this.said;
  }

  static async start(
    name: ProxyName,
    ports: readonly [number, number],
    sample = sampleOf(name),
  ): Promise<ProxyProgram> {
    const program = programs[name];
    const directory = await temporaryDirectory();
    const port = await freePort();
    let text = program.listens(sample, port);
    for (const [index, own] of ports.entries())
      text = text.replace(`127.0.0.1:${3_000 + index}`, `127.0.0.1:${own}`);
    const file = join(directory, 'proxy.conf');
    writeFileSync(file, program.whole(text, directory));
    mkdirSync(join(directory, 'home'));
    const [command, ...args] = program.command(file);
    const child = spawn(command!, args, {
      env: { PATH: `${process.env['PATH']}:/usr/sbin`, HOME: join(directory, 'home') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const proxy = new ProxyProgram(`http://127.0.0.1:${port}`, child);
    await until(() => proxy.isServing(), { message: `${name} serves`, explain: () => proxy.said });
    return proxy;
  }

  async stop(): Promise<void> {
    const exited = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await exited;
  }

  private async isServing(): Promise<boolean> {
    return fetch(`${this.url}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  }
}

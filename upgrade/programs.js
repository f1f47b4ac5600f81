import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './release.js';
import { until } from './until.js';

const running = new Set();
process.once('exit', () => {
  for (const program of running) program.child.kill('SIGKILL');
});

/** A process of the drill. Nothing of it outlives the drill. */
export class Program {
  output = '';

  constructor(name, command, args, environment) {
    this.name = name;
    this.child = spawn(command, args, {
      cwd: root,
      env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this);
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    this.exited = new Promise((done) => {
      const end = (how) => {
        running.delete(this);
        done(how);
      };
      this.child.once('error', (error) => end(error.message));
      this.child.once('close', (code, signal) => end(signal ?? code));
    });
  }

  /** Sends SIGTERM, and expects an orderly end. */
  async stop() {
    this.child.kill('SIGTERM');
    const how = await this.exited;
    if (how !== 0) throw new Error(`${this.name} ended with ${how}:\n${this.output.slice(-2_000)}`);
  }

  /** The lines of its log at the level of an error. */
  get complaints() {
    return this.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
  }

  /** Waits for `check`, and fails if the program ends before. */
  async until(what, check) {
    let how;
    void this.exited.then((value) => (how = value));
    await until(`${this.name}: ${what}`, 60_000, () => {
      if (how !== undefined) throw new Error(`${this.name} ended with ${how}:\n${this.output.slice(-2_000)}`);
      return check();
    });
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const isReady = (url) =>
  fetch(`${url}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );

/** One of the nodes, which changes its release. It keeps its port, as a machine keeps its address. */
export class Node {
  complaints = [];

  constructor(name, port, environment) {
    Object.assign(this, { name, port, environment });
  }

  async start(release) {
    this.release = release;
    this.program = new Program(
      `${this.name} (${release.name})`,
      process.execPath,
      [join(release.folder, 'dist/src/main.js')],
      { ...this.environment, PORT: String(this.port), NODE_NAME: `${this.name}-${release.name}` },
    );
    await this.program.until('it is ready', () => isReady(`http://127.0.0.1:${this.port}`));
  }

  async stop() {
    await this.program.stop();
    this.complaints.push(...this.program.complaints);
  }

  async replace(release) {
    await this.stop();
    await this.start(release);
  }
}

/** HAProxy by its sample in deploy/, before the nodes at these ports. */
export async function startProxy(folder, ports, checkMs) {
  const port = await freePort();
  let text = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('check inter 1s', `check inter ${checkMs}ms`);
  ports.forEach((own, index) => (text = text.replace(`127.0.0.1:${3_000 + index}`, `127.0.0.1:${own}`)));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  const program = new Program('haproxy', 'haproxy', ['-q', '-db', '-f', file], {});
  const url = `http://127.0.0.1:${port}`;
  await program.until('it serves', () => isReady(url));
  return { url, program };
}

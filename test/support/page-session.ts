import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from './data-directory.js';
import { patienceMs, until } from './index.js';

/** What a page takes for granted, and what differs where its commands are tested. */
export interface Scene {
  /** The folder in which the commands run. */
  cwd: string;
  environment: Record<string, string>;
  url: string;
  key: string;
  /** The values that readers fill in: `NAME=…`. */
  values?: Record<string, string>;
  /** Texts of the page that differ here, such as ports, and what stands in their place. */
  replacements?: Record<string, string>;
}

/** A program that a page starts in a terminal of its own. */
export interface Started {
  /** The id of its process group. */
  pid: number;
  output(): string;
  isRunning(): boolean;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Runs the commands of a page in one shell, so that variables which a block sets are used by the next ones. */
export class PageSession {
  readonly started: Started[] = [];
  private readonly shell: ChildProcess;
  private readonly closed: Promise<unknown>;
  private hasEnded = false;
  private done = 0;
  private count = 0;
  private said = '';

  private constructor(
    /** The address of the service. */
    public url: string,
    private key: string,
    private readonly scene: Scene,
    /** Takes the place of /tmp. */
    readonly folder: string,
  ) {
    this.shell = spawn('bash', ['--norc', '-eu'], {
      cwd: scene.cwd,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        CURL_HOME: folder,
        npm_config_update_notifier: 'false',
        ...scene.environment,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.shell.stdin!.on('error', () => undefined);
    for (const stream of [this.shell.stdout!, this.shell.stderr!])
      stream.on('data', (text: Buffer) => {
        this.said += text.toString();
        this.done = Number(/.*^done (\d+)$/ms.exec(this.said)?.[1] ?? 0);
      });
    this.closed = new Promise((end) => this.shell.once('close', end)).then(() => (this.hasEnded = true));
  }

  static async open(scene: Scene): Promise<PageSession> {
    const folder = await temporaryDirectory();
    // As on a terminal, where the meter of a transfer is not in the way of its output.
    await writeFile(join(folder, '.curlrc'), 'silent\nshow-error\n');
    return new PageSession(scene.url, scene.key, scene, folder);
  }

  /** Runs commands to their end and returns what they print. Fails if the last one fails, or any without `||`. */
  async run(commands: string, timeoutMs = 240_000): Promise<string> {
    const file = await this.write(commands);
    await this.pass(`. ${file} </dev/null >${file}.out 2>${file}.err`, file, timeoutMs);
    return readFileSync(`${file}.out`, 'utf8');
  }

  /**
   * Starts commands that run until they are stopped. They are a process group of their own, to be signalled as a
   * terminal does. If they start the service, waits until it listens, and calls this one from now on.
   */
  async start(commands: string): Promise<Started> {
    const file = await this.write(commands);
    const variables = `declare -p | { grep -E '^declare -- [A-Z]+="[^"]*"$' || true; } >${file}.variables`;
    const program = `bash --norc -euc '. ${file}.variables; . ${file}' </dev/null >${file}.out 2>&1`;
    // With job control it gets its process group, and is not deaf to Ctrl-C.
    await this.pass(`${variables}\nset -m; ${program} &\nset +m; echo $! >${file}.pid`, file);
    const pid = Number(readFileSync(`${file}.pid`, 'utf8'));
    const started: Started = {
      pid,
      output: () => readFileSync(`${file}.out`, 'utf8'),
      isRunning: () => isGroup(pid),
      stop: async (signal = 'SIGTERM') => {
        if (isGroup(pid)) process.kill(-pid, signal);
        await until(() => !isGroup(pid), { message: commands, timeoutMs: 60_000, explain: started.output });
      },
    };
    this.started.push(started);
    if (/npm start/.test(commands)) await this.listens(started);
    return started;
  }

  /** Stops what the page has started, the last one first. */
  async close(): Promise<void> {
    for (const started of this.started.reverse()) await started.stop();
    this.shell.stdin!.end();
    await this.closed;
  }

  private async listens(service: Started): Promise<void> {
    const address = (): string | undefined => /listening on (\S+)/.exec(service.output())?.[1];
    this.url = await until(() => service.isRunning() && address(), {
      message: 'the service of the page listens',
      timeoutMs: 120_000,
      explain: service.output,
    });
    // Only the first start on the embedded database prints a key.
    this.key = /\bns_[\w-]{43}\b/.exec(service.output())?.[0] ?? this.key;
  }

  /** The page's commands with the address, key and folder of this test. */
  here(commands: string): string {
    const { values = {}, replacements = {} } = this.scene;
    const inFolder = commands.replaceAll('/tmp/', `${this.folder}/`);
    const replaced = Object.entries(replacements).reduce((text, pair) => text.replaceAll(...pair), inFolder);
    return replaced
      .replaceAll('http://127.0.0.1:3000', this.url)
      .replaceAll('ns_…', this.key)
      .replaceAll(/\b([A-Z]+)=…/g, (_, name: string) => {
        if (values[name] === undefined) throw new Error(`The test has no value for ${name}=….`);
        return `${name}=${values[name]}`;
      });
  }

  private async write(commands: string): Promise<string> {
    const file = join(this.folder, `block-${++this.count}`);
    await writeFile(file, this.here(commands));
    return file;
  }

  private async pass(line: string, file: string, timeoutMs = patienceMs): Promise<void> {
    const number = this.count;
    const read = (suffix: string): string => {
      try {
        return readFileSync(`${file}${suffix}`, 'utf8');
      } catch {
        return '';
      }
    };
    const explain = (): string => `${read('')}\n${read('.out')}${read('.err')}${this.said}`;
    this.shell.stdin!.write(`${line}\necho; echo done ${number}\n`);
    await until(() => this.done === number || this.hasEnded, { message: line, timeoutMs, explain });
    if (this.done !== number) throw new Error(`The commands failed:\n${explain()}`);
  }
}

/** Returns whether a process of the group is alive. */
function isGroup(id: number): boolean {
  try {
    return process.kill(-id, 0);
  } catch {
    return false;
  }
}

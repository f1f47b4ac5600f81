import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createTestDatabase,
  type SpawnedService,
  spawnService,
  type TestDatabase,
  until,
} from '../support/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const key = 'a-key-that-is-long-enough';

describe('npm start', () => {
  let database: TestDatabase;
  let npm: ChildProcess;
  let said: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    said = '';
    npm = spawn('npm', ['start'], {
      cwd: root,
      // A group of its own, to be signalled as a terminal does.
      detached: true,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        npm_config_update_notifier: 'false',
        DATABASE_URL: database.url,
        BOOTSTRAP_API_KEY: key,
        PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    npm.stdout!.on('data', (text: Buffer) => (said += text.toString()));
    await until(listening, { message: 'npm start listens', timeoutMs: 60_000, explain: () => said });
  }, 90_000);

  afterEach(async () => {
    killGroup('SIGKILL');
    await database.drop();
  });

  it('prints nothing of its own before the service does', () => {
    const lines = said.split('\n').filter((line) => line.trim() !== '');
    expect(lines[0]).toMatch(/^> nowserving@\S+ start$/);
    expect(lines[1]).toMatch(/^> node /);
    expect(lines[2]).toMatch(/^listening on http:/);
  });

  it('ends on Ctrl-C and leaves nothing running', async () => {
    killGroup('SIGINT');
    await until(groupIsGone, { message: 'every process of npm start has ended' });
    await expect(fetch(listening()!)).rejects.toThrow();
  });

  it('takes the service with it when npm alone is asked to stop', async () => {
    npm.kill('SIGTERM');
    await until(groupIsGone, { message: 'every process of npm start has ended' });
    await expect(fetch(listening()!)).rejects.toThrow();
  });

  function listening(): string | undefined {
    return /listening on (\S+)/.exec(said)?.[1];
  }

  function killGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-npm.pid!, signal);
    } catch {
      return false;
    }
  }

  function groupIsGone(): boolean {
    return !killGroup(0);
  }
});

describe('the built service', () => {
  it('brings its own PostgreSQL, stops it, and finds the same data the next time', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'nowserving-start-'));
    try {
      const environment = { DATA_DIR: directory, BOOTSTRAP_API_KEY: key };
      const first = await spawnService(environment);
      const answer = await fetch(`${first.url}/v1/queue/demo/text/echo`, {
        method: 'POST',
        headers: { authorization: `Key ${key}` },
        body: '{"text":"kept"}',
      });
      const { status_url: statusUrl } = (await answer.json()) as { status_url: string };
      first.kill('SIGTERM');
      expect(await first.exited).toEqual({ code: 0, signal: null });

      const second = await spawnService(environment);
      expect((await fetch(new URL(new URL(statusUrl).pathname, second.url))).status).toBe(200);
      second.kill('SIGINT');
      expect(await second.exited).toEqual({ code: 0, signal: null });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }, 120_000);

  it('says how to make a key while its PostgreSQL has none, and no longer when there is one', async () => {
    const database = await createTestDatabase();
    const first = await spawnService({ DATABASE_URL: database.url });
    await until(() => /There is no API key yet.*npm run keys -- create/.test(first.output));
    const second = await spawnService({ DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key });
    const third = await spawnService({ DATABASE_URL: database.url });
    await until(() => third.output.includes('/docs'));
    for (const service of [second, third]) expect(service.output).not.toContain('There is no API key yet');
    for (const service of [first, second, third]) {
      service.kill('SIGTERM');
      expect(await service.exited).toEqual({ code: 0, signal: null });
    }
    await database.drop();
  }, 60_000);

  it('names the models that other nodes have otherwise, and none when it is alone or has the same', async () => {
    const database = await createTestDatabase();
    const directory = await mkdtemp(join(tmpdir(), 'nowserving-models-'));
    const file = join(directory, 'models.yaml');
    const entry = (id: string, option = ''): string =>
      `  - { id: ${id}, runner: { kind: demo, demo: echo }${option} }\n`;
    const start = async (...entries: string[]): Promise<SpawnedService> => {
      await writeFile(file, `models:\n${entries.join('')}`);
      return spawnService({ DATABASE_URL: database.url, MODELS_FILE: file });
    };
    const warning = /other nodes were started with another models file: (.*) differ/;
    const stopped = async (service: SpawnedService): Promise<string | undefined> => {
      service.kill('SIGTERM');
      expect(await service.exited).toEqual({ code: 0, signal: null });
      return warning.exec(service.output)?.[1];
    };
    expect(await stopped(await start(entry('a/old')))).toBeUndefined();
    const first = await start(entry('a/same'), entry('a/changed'), entry('a/gone'));
    expect(await stopped(await start(entry('a/same'), entry('a/changed'), entry('a/gone')))).toBeUndefined();
    const other = await start(entry('a/same'), entry('a/changed', ', concurrency: 2'), entry('a/new'));
    expect(await stopped(other)).toBe('a/changed, a/gone, a/new');
    expect(await stopped(first)).toBeUndefined();
    await rm(directory, { recursive: true, force: true });
    await database.drop();
  }, 60_000);

  it('ends with one clear line when it cannot reach its database', async () => {
    const start = spawnService({ DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
    await expect(start).rejects.toThrow(
      /"code":1.*\nThe database at 127\.0\.0\.1:1\/none cannot be reached: \S/,
    );
  });
});

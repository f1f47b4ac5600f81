import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/data-directory.js';
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
      // A process group of its own, to be signalled as a terminal does.
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
    await until(listening, { message: 'npm start listens', explain: () => said });
  });

  afterEach(async () => {
    killGroup('SIGKILL');
    await database.drop();
  });

  it('prints nothing of its own before the service does', () => {
    const lines = said.split('\n').filter((line) => line.trim() !== '');
    expect(lines[0]).toMatch(/^> nowserving-server@\S+ start$/);
    expect(lines[1]).toMatch(/^> node /);
    expect(lines[2]).toMatch(/^listening on http:/);
  });

  it('warns if the next minor release drops the version of Node', async () => {
    const isOld = Number.parseInt(process.versions.node) < 22;
    const warning = /gets no more fixes, and the next minor release needs Node 22/;
    if (isOld) await until(() => warning.test(said), { message: 'the warning', explain: () => said });
    expect(warning.test(said)).toBe(isOld);
  });

  it.each<[string, () => void]>([
    ['on Ctrl-C', () => killGroup('SIGINT')],
    ['when npm alone is asked to stop', () => npm.kill('SIGTERM')],
  ])('ends %s, and leaves nothing running', async (_, end) => {
    end();
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
  it('explains how to create a key until its PostgreSQL has one', async () => {
    const database = await createTestDatabase();
    const first = await spawnService({ DATABASE_URL: database.url });
    await until(() => /There is no API key yet.*npm run keys -- create/.test(first.output));
    const second = await spawnService({ DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key });
    const third = await spawnService({ DATABASE_URL: database.url });
    await until(() => third.output.includes('/docs'));
    for (const service of [second, third]) expect(service.output).not.toContain('There is no API key yet');
    for (const service of [first, second, third]) await service.stop();
    await database.drop();
  });

  it('names the models that differ on other nodes, and none if it is the only node or has the same models', async () => {
    const database = await createTestDatabase();
    const entry = (id: string, option = ''): string =>
      `  - { id: ${id}, runner: { kind: demo, demo: echo }${option} }\n`;
    const start = async (...entries: string[]): Promise<SpawnedService> => {
      // Each has its own file, because nodes read their file again when it changes.
      const file = join(await temporaryDirectory(), 'models.yaml');
      await writeFile(file, `models:\n${entries.join('')}`);
      return spawnService({ DATABASE_URL: database.url, MODELS_FILE: file });
    };
    const warning = /other nodes were started with another models file: (.*) differ/;
    const stopped = async (service: SpawnedService): Promise<string | undefined> => {
      await service.stop();
      return warning.exec(service.output)?.[1];
    };
    expect(await stopped(await start(entry('a/old')))).toBeUndefined();
    const first = await start(entry('a/same'), entry('a/changed'), entry('a/gone'));
    expect(await stopped(await start(entry('a/same'), entry('a/changed'), entry('a/gone')))).toBeUndefined();
    const other = await start(entry('a/same'), entry('a/changed', ', concurrency: 2'), entry('a/new'));
    expect(await stopped(other)).toBe('a/changed, a/gone, a/new');
    expect(await stopped(first)).toBeUndefined();
    await database.drop();
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pidFile, serverPid, temporaryDirectory } from '../support/data-directory.js';
import { isAlive } from '../support/temporary-servers.js';
import { type Exit, SpawnedService, spawnService, submitTo, until } from '../support/index.js';

let directory: string;
let environment: { DATA_DIR: string; [name: string]: string };

beforeAll(async () => {
  directory = await temporaryDirectory();
});
beforeEach(() => {
  environment = { DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'error' };
});

const submit = async (service: SpawnedService, key: string): Promise<string> =>
  (await submitTo(service.url, key, 'demo/text/echo', { prompt: 'remember me' })).request_id;

const answer = (service: SpawnedService, id: string): Promise<unknown> =>
  until(async () => {
    const response = await fetch(`${service.url}/v1/queue/requests/${id}`);
    return response.status === 200 && ((await response.json()) as object);
  });

async function stop(service: SpawnedService, signal: NodeJS.Signals): Promise<void> {
  const server = serverPid(environment.DATA_DIR);
  await service.stop(signal);
  expect([isAlive(server), existsSync(pidFile(environment.DATA_DIR))]).toEqual([false, false]);
}

async function kill(service: SpawnedService): Promise<void> {
  service.kill('SIGKILL');
  await service.exited;
}

/** Signs in with the link that is printed beside the key. */
async function signsInOnce({ output, url }: SpawnedService): Promise<void> {
  const [, base, link] = /\(once, within an hour\): (\S+)\/console#link=([\w-]{43})$/m.exec(output)!;
  expect(base).toBe(url);
  const signIn = (): Promise<Response> =>
    fetch(`${url}/v1/admin/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link }),
    });
  expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 401]);
}

test('the embedded database retains its data after a stop, a kill of the service and a kill of both', async () => {
  let service = await spawnService(environment);
  const key = /only this once: (\S+)/.exec(service.output)![1]!;
  await signsInOnce(service);
  const id = await submit(service, key);
  await answer(service, id);

  // A second service on the directory gives up, and the first does not notice.
  const second = new SpawnedService(environment);
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.output.trimEnd()).toMatch(/^Another service is running on the data directory .*$/);
  const ids = [id, await submit(service, key)];
  await stop(service, 'SIGINT');

  service = await spawnService(environment);
  expect(service.output).not.toContain('only this once');
  for (const known of ids) expect(await answer(service, known)).toEqual({ prompt: 'remember me' });
  ids.push(await submit(service, key));

  // The service alone is killed. The next one ends the server that was left behind, and starts its own.
  const orphan = serverPid(environment.DATA_DIR);
  await kill(service);
  expect(isAlive(orphan)).toBe(true);
  service = await spawnService(environment);
  expect(isAlive(orphan)).toBe(false);
  for (const known of ids) await answer(service, known);
  ids.push(await submit(service, key));

  // Everything is killed, and another process has the server's process id when the next service starts.
  const killed = serverPid(environment.DATA_DIR);
  await kill(service);
  process.kill(killed, 'SIGKILL');
  await until(() => !isAlive(killed));
  const stranger = sleeper();
  const stale = readFileSync(pidFile(environment.DATA_DIR), 'utf8').replace(/^\d+/, String(stranger.pid));
  await writeFile(pidFile(environment.DATA_DIR), stale);
  service = await spawnService(environment);
  expect(stranger.exitCode).toBeNull();
  stranger.kill();
  for (const known of ids) await answer(service, known);
  await stop(service, 'SIGTERM');
});

test('a database that is killed loses no call that counts against a limit', async () => {
  Object.assign(environment, { DATA_DIR: join(directory, 'limited'), RATE_LIMIT_OTHER: '50/h' });
  const poll = async ({ url }: SpawnedService): Promise<number> => {
    const { status } = await fetch(`${url}/v1/queue/requests/nobody/status`);
    return status;
  };
  let service = await spawnService(environment);
  for (let i = 0; i < 50; i++) expect(await poll(service)).toBe(404);
  const server = serverPid(environment.DATA_DIR);
  process.kill(server, 'SIGKILL');
  await kill(service);

  service = await spawnService(environment);
  expect(await poll(service)).toBe(403);
  await stop(service, 'SIGTERM');
});

test('of two services that create the same directory at once, one runs and the other exits', async () => {
  environment.DATA_DIR = join(directory, 'fresh');
  const both = [new SpawnedService(environment), new SpawnedService(environment)];
  const exits: (Exit | undefined)[] = [undefined, undefined];
  both.forEach((one, i) => void one.exited.then((exit) => (exits[i] = exit)));
  const { runs, gone } = await until(
    () => {
      const runs = both.findIndex(({ output }) => output.includes('listening on'));
      const gone = exits.findIndex((exit) => exit !== undefined);
      return runs >= 0 && gone >= 0 && { runs, gone };
    },
    { explain: () => both.map(({ output }) => output) },
  );
  expect(exits[gone]).toEqual({ code: 1, signal: null });
  expect(both[gone]!.output.trimEnd()).toMatch(/^Another service is running on the data directory .*$/);
  await stop(both[runs]!, 'SIGTERM');
});

test('a start that is killed or interrupted breaks no later start, and an interrupted one leaves nothing running', async () => {
  const data = (environment.DATA_DIR = join(directory, 'interrupted'));
  /** Returns whether the service has the directory to itself; next it creates the database, if there is none. */
  const begins = ({ pid }: SpawnedService) => readFileSync(join(data, 'starting'), 'utf8') === String(pid);
  const makes = (): boolean => readdirSync(data).some((name) => name.startsWith('postgres.new-'));

  const killed = new SpawnedService(environment);
  await until(() => begins(killed) && makes());
  await kill(killed);
  expect(existsSync(join(data, 'postgres'))).toBe(false);

  for (const moment of [begins, () => existsSync(pidFile(environment.DATA_DIR))]) {
    const interrupted = new SpawnedService(environment);
    await until(() => moment(interrupted));
    await interrupted.stop('SIGINT');
    expect([existsSync(pidFile(environment.DATA_DIR)), makes()]).toEqual([false, false]);
  }

  const service = await spawnService({ ...environment, BOOTSTRAP_API_KEY: 'a-key-of-the-last-start' });
  await answer(service, await submit(service, 'a-key-of-the-last-start'));
  await stop(service, 'SIGTERM');
});

test.each([
  [
    '15',
    /^PostgreSQL 15 made the data directory .*, and PostgreSQL \d+ of this release cannot read it\. Nothing was changed\.[^]*pg_dump[^]*the program migrate[^]*pg_restore/,
  ],
  ['99', /^PostgreSQL 99 made .*Start the release whose embedded PostgreSQL is 99/],
])(
  'a data directory of PostgreSQL %s is refused with the steps to take, and stays unchanged',
  async (version, words) => {
    const data = (environment.DATA_DIR = join(directory, `version-${version}`));
    await mkdir(join(data, 'postgres'), { recursive: true });
    await writeFile(join(data, 'postgres', 'PG_VERSION'), `${version}\n`);
    const service = new SpawnedService(environment);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.output).toMatch(words);
    expect(readdirSync(join(data, 'postgres'))).toEqual(['PG_VERSION']);
  },
);

/** A process of the server's own user, which PostgreSQL would take for a server of its own. */
function sleeper(): ChildProcess {
  const { uid, gid } = statSync(join(environment.DATA_DIR, 'postgres'));
  const owner = process.getuid?.() === 0 ? { uid, gid } : {};
  return spawn('sleep', ['60'], { ...owner, stdio: 'ignore' });
}

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../support/page-examples.js';
import { QueueCalls } from '../support/queue-calls.js';
import { startTestService, type TestService } from '../support/index.js';

let service: TestService;
let ids: string[];
const program = join(root, 'dist/src/export.js');
const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  DATABASE_URL: service.databaseUrl,
});

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s' });
  const calls = new QueueCalls(service);
  ids = [];
  for (const prompt of ['one', 'two', 'three']) ids.push(await calls.run('demo/text/echo', { prompt }));
});
afterAll(() => service.stop());

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `npm run -s export -- …` as a process of its own. */
const run = (...args: string[]): Promise<Ended> =>
  promisify(execFile)(process.execPath, [program, ...args], { env: environment() }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Ended,
  );

test('the command prints one line for each request, and is audited', async () => {
  const { code, stdout, stderr } = await run('--model', 'demo/*');
  expect([code, stderr]).toEqual([0, 'Exported 3 requests.\n']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { request_id: string }).request_id)).toEqual(ids);
  const entries = await service.query(
    `SELECT actor_name, action, after->>'model' AS model FROM audit_entry WHERE target = 'export'`,
  );
  expect(entries).toEqual([{ actor_name: 'command line', action: 'payload.read', model: 'demo/*' }]);
});

test('--key selects a key by its name, and an unknown name is an error without output', async () => {
  const [{ name }] = (await service.query<{ name: string }>('SELECT name FROM api_key')) as [
    { name: string },
  ];
  expect((await run('--key', name)).stderr).toBe('Exported 3 requests.\n');
  expect(await run('--key', 'nobody')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'There is no key "nobody". List them: npm run keys -- list\n',
  });
});

test('--since and --until select by the time of submission, and an invalid time is refused', async () => {
  expect((await run('--since', '2999-01-01')).stdout).toBe('');
  expect((await run('--until', '2999-01-01T00:00:00Z')).stdout.split('\n')).toHaveLength(4);
  expect(await run('--since', 'yesterday')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Expected a time as in RFC 3339') as string,
  });
});

test('an export whose output pipe closes fails, because it is not complete', async () => {
  const child = spawn(process.execPath, [program], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, said]).toEqual([1, 'The output cannot be written (EPIPE), so the export is not complete.\n']);
});

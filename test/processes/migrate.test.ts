import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '../../src/database/data-source.js';
import { reachDatabase } from '../../src/database/reach.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { root } from '../support/page-examples.js';
import {
  createEmptyDatabase,
  SpawnedService,
  spawnService,
  submitTo,
  type TestDatabase,
  until,
} from '../support/index.js';

const key = 'test_migrate_key_0123456789';
const [first, last] = [migrations[0]!.name, migrations.at(-1)!.name];

let database: TestDatabase;
beforeAll(async () => (database = await createEmptyDatabase()));
afterAll(() => database.drop());

const settings = (): Record<string, string> => ({
  DATABASE_URL: database.url,
  BOOTSTRAP_API_KEY: key,
  MIGRATE: 'off',
});

/** Runs `npm run migrate -- …` as a process of its own, or a start of the service. */
async function run(script: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const program = new SpawnedService(settings(), { script, args });
  const { code } = await program.exited;
  return { code, output: program.output };
}

const migrate = (...args: string[]): ReturnType<typeof run> => run('dist/src/migrate.js', ...args);

const tables = (): Promise<object[]> =>
  database.run(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`);

test('status and plan of an empty database show every migration, and change nothing', async () => {
  const status = await migrate('status');
  expect(status.code).toBe(1);
  expect(status.output.match(/^open {5}\w+$/gm)).toHaveLength(migrations.length);
  expect(status.output).toMatch(/ lacks \d+ migrations of this release\. Apply them: npm run migrate\n$/);
  const plan = await migrate('plan');
  expect(plan.code).toBe(0);
  expect(plan.output.match(/^-- \w+\d{13}$/gm)).toEqual(migrations.map(({ name }) => `-- ${name}`));
  expect(plan.output).toContain('CREATE TABLE erased_line');
  expect(await tables()).toEqual([]);
});

test('a start with MIGRATE=off ends with code 1 and one line, which names the migrations and the command', async () => {
  const { code, output } = await run('dist/src/main.js');
  expect(code).toBe(1);
  expect(output.trimEnd().split('\n')).toEqual([
    expect.stringMatching(`${first}.*${last}.*\`npm run migrate\``),
  ]);
  expect(await tables()).toEqual([]);
});

test('an unknown command is refused with code 2, and changes nothing', async () => {
  expect((await migrate('up')).code).toBe(2);
  expect(await tables()).toEqual([]);
});

test('two concurrent runs of migrate apply each migration once, and a start with MIGRATE=off then serves', async () => {
  const both = await Promise.all([migrate(), migrate()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const applied = both.flatMap(({ output }) => output.match(/^applied \w+$/gm) ?? []);
  expect(applied.toSorted()).toEqual(migrations.map(({ name }) => `applied ${name}`).toSorted());
  const status = await migrate('status');
  expect(status.code).toBe(0);
  expect(status.output.match(/^applied {2}\w+$/gm)).toHaveLength(migrations.length);
  const service = await spawnService(settings());
  await completes(service);
  await service.stop();
  expect(service.output).not.toContain('newer release');
});

test('a service on the schema of a newer release warns once, and serves', async () => {
  await database.run(`INSERT INTO migrations (timestamp, name) VALUES (1890000000000, 'Later1890000000000')`);
  const status = await migrate('status');
  expect(status.code).toBe(0);
  expect(status.output).toMatch(/^newer {4}Later1890000000000$/m);
  const service = await spawnService({ ...settings(), MIGRATE: 'on' });
  await completes(service);
  await service.stop();
  expect(service.output.match(/1 migration of a newer release/g)).toHaveLength(1);
});

test('--grants gives the rights of grants.sql after the migrations, and a failure says what was done', async () => {
  // Roles belong to the whole server, which other tests use too.
  const prefix = `nowserving_test_role_${randomBytes(8).toString('hex')}`;
  const read = async (file: string): Promise<string> =>
    (await readFile(join(root, 'deploy/postgres', file), 'utf8')).replaceAll('nowserving', prefix);
  const separate = await createEmptyDatabase();
  try {
    await separate.run(await read('roles.sql'));
    const owner = await separate.adoptRole(`${prefix}_owner`);
    const service = await separate.adoptRole(prefix);
    await separate.adoptRole(`${prefix}_reader`);
    const file = join(await temporaryDirectory(), 'grants.sql');
    const migrateAsOwner = async (): Promise<object> => {
      const args = ['--grants', file];
      const program = new SpawnedService({ DATABASE_URL: owner }, { script: 'dist/src/migrate.js', args });
      return { ...(await program.exited), output: program.output };
    };
    expect(await migrateAsOwner()).toMatchObject({
      code: 1,
      output: expect.stringContaining('ENOENT') as string,
    });
    await writeFile(file, 'SELECT 1 / 0');
    const reason = 'The migrations are applied, but not the grants: division by zero\n';
    expect(await migrateAsOwner()).toMatchObject({
      code: 1,
      output: expect.stringContaining(reason) as string,
    });
    await expect(reachDatabase(service)).rejects.toThrow('does not own the tables');
    await writeFile(file, await read('grants.sql'));
    expect(await migrateAsOwner()).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^applied the grants$/m) as string,
    });
    await reachDatabase(service);
  } finally {
    await separate.drop();
  }
});

async function completes(service: SpawnedService): Promise<void> {
  const { status_url } = await submitTo(service.url, key, 'demo/text/echo', { text: 'hello' });
  await until(async () => (await (await fetch(status_url)).text()).includes('COMPLETED'));
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/data-directory.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';
import { alike, commandsOf, examplesPage, isRun, root } from '../support/page-examples.js';
import { freePort } from '../support/page-scenes.js';
import { PageSession, type Scene, type Started } from '../support/page-session.js';

const blocks = commandsOf(examplesPage).filter(isRun);
const [start, variables, http, worker, build, command, told, whole, followed, ...others] = blocks;

let database: TestDatabase;
let scene: Scene;
let session: PageSession;
const workers: Started[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const port = String(await freePort());
  const models = join(await temporaryDirectory(), 'models.yaml');
  const file = await readFile(join(root, 'examples/models.yaml'), 'utf8');
  await writeFile(models, file.replaceAll(':9300/', `:${port}/`));
  const key = 'a-key-that-is-long-enough';
  scene = {
    cwd: root,
    environment: { DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key, PORT: '0' },
    url: '',
    key,
    replacements: { 'examples/models.yaml': models, 'http_model.py': `http_model.py ${port}` },
  };
  session = await PageSession.open(scene);
  await session.start(start!.code);
  await session.run(variables!.code);
  const server = await session.start(http!.code);
  await until(() => server.output().includes('listening on'), { message: 'the server listens' });
  workers.push(await session.start(worker!.code));
  await session.run(build!.code);
  workers.push(await session.start(command!.code));
}, 300_000);

// The workers stop before their queue does.
afterAll(async () => {
  await session.close();
  await database.drop();
});

test('every block of commands is run here', () => expect(others).toEqual([]));

const stories: string[] = [];

describe.each(['story/http', 'story/worker', 'story/command'])('%s', (model) => {
  const as = (commands: string): string => commands.replaceAll(/story\/(http|worker)/g, model);

  it('is started by one line, and streams a story token by token', async () => {
    const printed = await session.run(as(told!.code));
    expect(printed.trim()).toEqual(alike(told!.shown!.trim(), session.url));
    const deltas = [...printed.matchAll(/^data: (\{"index".*)$/gm)].map(
      ([, line]) => JSON.parse(line!) as { index: number; delta: string },
    );
    expect(deltas.length).toBeGreaterThan(3);
    const story = await session.run(whole!.code);
    expect(story.trim()).toEqual(alike(whole!.shown!.trim(), session.url));
    expect(JSON.parse(story)).toBe(deltas.map(({ delta }) => delta).join(''));
    stories.push(story);
  });

  it('is followed by a loop in JavaScript', async () => {
    const printed = await session.run(as(followed!.code));
    expect(printed.trim()).toEqual(alike(followed!.shown!.trim(), session.url));
    expect(printed.length).toBeGreaterThan(300);
  });
});

test('the three models produce the same story', () => {
  expect(stories).toHaveLength(3);
  expect(new Set(stories).size).toBe(1);
});

test('no program that the page starts has ended by itself', () => {
  expect(session.started).toHaveLength(4);
  const ended = session.started.filter((started) => !started.isRunning());
  expect(ended.map((started) => started.output())).toEqual([]);
});

test('a story whose worker stops half-way starts again, and the stream reports it', async () => {
  const [teller] = workers;
  const input = '{"prompt": "Anna", "max_tokens": 30, "tokens_per_second": 8}';
  const reader = await PageSession.open({ ...scene, url: session.url });
  await reader.run(variables!.code);
  const reading = reader.run(
    told!.code.replace('story/http', 'story/worker').replace(/\{"prompt.*\}/, input),
  );
  const runs = async (): Promise<boolean> => {
    const submitted = await readFile(join(reader.folder, 'story.json'), 'utf8');
    const { status_url } = JSON.parse(submitted) as { status_url: string };
    return (await (await fetch(status_url)).text()).includes('IN_PROGRESS');
  };
  const stopping = async (): Promise<void> => {
    await until(runs, { message: 'the story is told' });
    process.kill(-teller!.pid, 'SIGINT');
    await until(() => teller!.output().includes('finishes its runs'), { message: 'the worker drains' });
    await teller!.stop('SIGINT');
    await session.start(worker!.code);
  };
  const [printed] = await Promise.all([reading, stopping()]);
  expect(printed).toMatch(/^event: reset\nid: \S+\ndata: \{"attempt":1\}/m);
  await reader.close();
});

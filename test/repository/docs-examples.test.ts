import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startTestService, type TestService } from '../support/index.js';

interface Example {
  name: string;
  commands: string;
  /** What the page shows below them; undefined: nothing. */
  shown: string | undefined;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The blocks that are marked `sh run`, in the order of the pages, each with the block that follows it at once. */
function examplesOf(page: string): Example[] {
  const blocks = read(page).matchAll(/^```sh run\n(.*?)^```\n(?:\n```(?:json)?\n(.*?)^```$)?/gms);
  return [...blocks].map(([, commands, shown], index) => ({
    name: `${page}, ${index + 1}: ${commands!.split('\n')[0]!.slice(0, 80)}`,
    commands: commands!,
    shown,
  }));
}

const examples = ['docs/calling.md', 'docs/collection.md'].flatMap(examplesOf);
/** Between the outputs of two blocks. */
const mark = '~~~ next ~~~';

let service: TestService;
let folder: string;
let printed: string[];

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s' });
  folder = await mkdtemp(join(tmpdir(), 'examples-'));
  // One shell for all: what a block sets, the next ones use.
  const script = examples
    .map(({ commands }) => `${commands.replaceAll('/tmp/', `${folder}/`)}\nprintf '\\n${mark}\\n'`)
    .join('\n');
  const env = { PATH: process.env['PATH'], URL: service.url, KEY: service.key };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euc', script], {
    env,
    timeout: 25_000,
  });
  expect(stderr).toBe('');
  printed = stdout.split(`\n${mark}\n`);
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

test('the pages have examples', () => expect(examples.length).toBeGreaterThan(7));

test.each(examples.map(({ name, shown }, index) => ({ name, shown, index })))(
  '$name prints what the page shows',
  ({ shown, index }) => {
    const actual = printed[index]!.trim();
    if (shown === undefined) expect(actual).not.toMatch(/^\{"type":"\/docs\/errors#/);
    else if (/^[{[]/.test(shown)) expect(JSON.parse(actual)).toEqual(alike(JSON.parse(shown)));
    else expect(actual).toEqual(alike(shown.trim()));
  },
);

test('every link of a page for callers leads to a file, and to a heading in it', () => {
  const topics = ['calling', 'collection', 'clients', 'webhooks'];
  const pages = ['README.md', ...topics.map((topic) => `docs/${topic}.md`)];
  const broken = pages.flatMap((page) => {
    const links = [...read(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    return links.flatMap(([link, path, heading]) => {
      const file = path === '' ? page : join(dirname(page), path!);
      const isThere = existsSync(join(root, file));
      return isThere && (heading === undefined || headingsOf(file).includes(heading))
        ? []
        : [`${page}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});

/** As GitHub names them in addresses. */
function headingsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** A page may leave fields out and ids, times, measured numbers and what is an ellipsis are others each time. */
function alike(shown: unknown): unknown {
  if (typeof shown === 'string') return expect.stringMatching(new RegExp(`^${patternOf(shown)}$`));
  if (typeof shown === 'number' && !Number.isInteger(shown)) return expect.any(Number);
  if (Array.isArray(shown)) return shown.map(alike);
  if (typeof shown !== 'object' || shown === null) return shown;
  const fields = Object.entries(shown).map(([name, value]): [string, unknown] => [name, alike(value)]);
  return expect.objectContaining(Object.fromEntries(fields));
}

function patternOf(text: string): string {
  const here = text.replaceAll('http://127.0.0.1:3000', service.url);
  return here
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '[0-9a-f-]{36}')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\\\.\d{3}Z/g, String.raw`\d{4}-\d\d-\d\dT[\d:.]{12}Z`)
    .replaceAll('…', '[^]*');
}

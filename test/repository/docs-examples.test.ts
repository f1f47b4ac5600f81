import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startTestService, type TestService } from '../support/index.js';
import { alike, examplesOf, readPage } from '../support/page-examples.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const examples = ['docs/calling.md', 'docs/collection.md'].flatMap((page) => examplesOf(page));
/** Separates the outputs of two blocks. */
const mark = '~~~ next ~~~';

let service: TestService;
let folder: string;
let printed: string[];

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s' });
  folder = await mkdtemp(join(tmpdir(), 'examples-'));
  // One shell for all blocks: variables that a block sets are used by the next ones.
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
    else if (/^[{[]/.test(shown)) expect(JSON.parse(actual)).toEqual(alike(JSON.parse(shown), service.url));
    else expect(actual).toEqual(alike(shown.trim(), service.url));
  },
);

test('every link of a page for callers leads to a file, and to a heading in it', () => {
  const topics = ['calling', 'collection', 'clients', 'webhooks'];
  const pages = ['README.md', 'examples/README.md', ...topics.map((topic) => `docs/${topic}.md`)];
  const broken = pages.flatMap((page) => {
    const links = [...readPage(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
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

/** The anchors of the headings, as GitHub names them. */
function headingsOf(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

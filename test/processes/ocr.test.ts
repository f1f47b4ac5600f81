import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';
import { alike, commandsOf, isRun, ocrPage, root } from '../support/page-examples.js';
import { freePort } from '../support/page-scenes.js';
import { PageSession, type Started } from '../support/page-session.js';
import { keyHeader } from '../support/queue-calls.js';

const blocks = commandsOf(ocrPage).filter(isRun);
const [start, variables, build, http, worker, command, read, page, ...others] = blocks;
const models = ['ocr/http', 'ocr/worker', 'ocr/command'];
const picture = 'examples/ocr/harbour.png';
const key = 'a-key-that-is-long-enough';

let database: TestDatabase;
let session: PageSession;
let browser: Browser;
let viewed: Started;
let folder: string;
/** The words that the picture shows: those at the beginning of the storyteller's text. */
let words: string[];

beforeAll(async () => {
  [database, browser, folder] = await Promise.all([
    createTestDatabase(),
    launchChromium(),
    temporaryDirectory(),
  ]);
  const [text] = (await readFile(join(root, 'examples/harbour.txt'), 'utf8')).split(' The number is not');
  words = text!.split(/\s+/);
  const port = String(await freePort());
  const file = join(folder, 'models.yaml');
  const yaml = await readFile(join(root, 'examples/ocr/models.yaml'), 'utf8');
  await writeFile(file, yaml.replaceAll(':9310/', `:${port}/`));
  const guard = new URL('../support/loopback-only.js', import.meta.url).href;
  session = await PageSession.open({
    cwd: root,
    environment: {
      DATABASE_URL: database.url,
      BOOTSTRAP_API_KEY: key,
      PORT: '0',
      // Nothing may be downloaded.
      NODE_OPTIONS: `--import=${guard}`,
    },
    url: '',
    key,
    replacements: {
      'examples/ocr/models.yaml': file,
      'server.mjs': `server.mjs ${port}`,
      'page.mjs': 'page.mjs 0',
      '--env NOWSERVING_URL': '--env NOWSERVING_URL --env NODE_OPTIONS',
    },
  });
  await session.start(start!.code);
  await session.run(variables!.code);
  await session.run(build!.code);
  const server = await session.start(http!.code);
  for (const block of [worker, command]) await session.start(block!.code);
  viewed = await session.start(page!.code);
  for (const one of [server, viewed])
    await until(() => one.output().includes('listening on'), { explain: one.output });
}, 300_000);

// The workers stop before their queue does.
afterAll(async () => {
  await session.close();
  await browser.close();
  await database.drop();
});

test('every block of commands is run here', () => expect(others).toEqual([]));

/** Prints the text of a picture, or why there is none. */
const printed = (model: string, file: string): Promise<string> =>
  session.run(`node examples/ocr/read.mjs ${model} ${file} 2>&1 || true`);

describe.each(models)('%s', (model) => {
  it('is started by one line, and reads the picture line by line', async () => {
    const text = await session.run(read!.code.replace('ocr/http', model));
    expect(text.trim()).toEqual(alike(read!.shown!.trim(), session.url));
    expect(text.trim().split(/\s+/)).toEqual(words);
    const deltas = await deltasOfLast(model);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe(text);
  });

  it('fails with the reason if the file has no text or is no picture', async () => {
    const reason = (words: string): string => (model === 'ocr/command' ? 'exit code 65' : words);
    const tab = await browser.newPage({ viewport: { width: 400, height: 200 } });
    await tab.screenshot({ path: join(session.folder, 'blank.png') });
    await tab.close();
    // The session's folder takes the place of /tmp.
    expect(await printed(model, '/tmp/blank.png')).toContain(reason('No text was found in the picture.'));
    expect(await printed(model, 'LICENSE')).toContain(reason('not a picture that Tesseract can read'));
    expect(await printed(model, picture)).toContain('The harbour wakes');
  });
});

/** Returns the parts of the output of the newest request of a model. */
async function deltasOfLast(model: string): Promise<string[]> {
  const list = await fetch(new URL(`/v1/queue/requests?model_id=${model}&limit=1`, session.url), {
    headers: keyHeader(key),
  });
  const { data } = (await list.json()) as { data: { request_id: string }[] };
  const stream = new URL(`/v1/queue/requests/${data[0]!.request_id}/output/stream`, session.url);
  const events = await (await fetch(stream)).text();
  return [...events.matchAll(/^data: (\{"index".*)$/gm)].map(
    ([, line]) => (JSON.parse(line!) as { delta: string }).delta,
  );
}

describe('the page', () => {
  let tab: Page;
  const asked: string[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    tab = await browser.newPage();
    tab.on('request', (request) => asked.push(request.url()));
    tab.on('console', (message) => complaints.push(message.text()));
    tab.on('pageerror', (error) => complaints.push(error.message));
    await tab.goto(/listening on (\S+)/.exec(viewed.output())![1]!);
    // Keeps what the text was after each change.
    await tab.evaluate(`(() => {
      const text = document.querySelector('pre');
      window.seen = [];
      new MutationObserver(() => seen.push(text.textContent)).observe(text, { childList: true });
    })()`);
  });

  it.each(models)('uploads a picture to %s, and shows the text while it grows', async (model) => {
    await tab.evaluate('window.seen = []');
    await tab.getByLabel('Model').selectOption(model);
    await tab.getByLabel('Picture', { exact: true }).setInputFiles(join(root, picture));
    await tab.getByText('Done.').waitFor({ timeout: 60_000 });
    expect((await tab.locator('pre').innerText()).trim().split(/\s+/)).toEqual(words);
    const seen = (await tab.evaluate<string[]>('window.seen')).filter(Boolean);
    expect(seen.length).toBeGreaterThan(1);
    for (const [at, text] of seen.slice(1).entries()) expect(text.startsWith(seen[at]!)).toBe(true);
  });

  it('shows why a picture cannot be read, and calls no other host', async () => {
    const noise = { name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from('this is no picture') };
    await tab.getByLabel('Model').selectOption('ocr/worker');
    await tab.getByLabel('Picture', { exact: true }).setInputFiles(noise);
    await tab.getByText('Failed: The file is not a picture that Tesseract can read.').waitFor();
    expect(complaints).toEqual([]);
    expect(asked.filter((url) => !/^(http:\/\/127\.0\.0\.1:|blob:)/.test(url))).toEqual([]);
  });
});

test('no program that the page starts has ended by itself or left language data behind', () => {
  expect(session.started).toHaveLength(5);
  const ended = session.started.filter((started) => !started.isRunning());
  expect(ended.map((started) => started.output())).toEqual([]);
  expect(existsSync(join(root, 'eng.traineddata'))).toBe(false);
});

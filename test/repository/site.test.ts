import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brokenLinks, overview, pages as pagesOfSite, stage } from '../../site/pages.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { pages } from '../support/page-examples.js';

const files = pagesOfSite().map(({ file }) => file);

test('every link of a page leads to a file, and to a heading in it', () => {
  expect(brokenLinks()).toEqual([]);
});

test('ARCHITECTURE.md has at most 12 KiB', () => {
  const size = statSync(new URL('../../ARCHITECTURE.md', import.meta.url)).size;
  expect(size).toBeLessThanOrEqual(12 * 1_024);
});

test('the site has every page of the repository once', () => {
  const all = [...pages, 'ARCHITECTURE.md', 'CHANGELOG.md', 'formal/README.md'];
  expect([...files].sort()).toEqual(all.sort());
  expect(new Set(pagesOfSite().map(({ path }) => path.toLowerCase())).size).toBe(files.length);
});

test('the links of the site lead to its own pages and to copies of other files', async () => {
  const folder = await temporaryDirectory();
  stage(folder);
  const staged = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !file.startsWith('public/'),
  );
  expect(staged.length).toBeGreaterThan(files.length);
  const missing = staged.flatMap((page) => {
    const text = readFileSync(join(folder, page), 'utf8').replaceAll(/^ *```[^]*?^ *```$|`[^`\n]*`/gm, '');
    return [...text.matchAll(/\]\((?!\w+:)([^)#\s]+)[^)\s]*\)|\bsrc(?:set)?="([^":]+)"/g)]
      .map(([, link, picture]) => link ?? picture!)
      .filter(
        (link) =>
          !existsSync(
            link.startsWith('/') ? join(folder, 'public', link) : join(folder, dirname(page), link),
          ),
      )
      .map((link) => `${page}: ${link}`);
  });
  expect(missing).toEqual([]);
  expect(existsSync(join(folder, 'public/files/deploy/systemd/nowserving@.service.txt'))).toBe(true);
});

test('llms.txt names every page with a sentence', () => {
  const text = overview();
  for (const { title, path } of pagesOfSite()) {
    const line = text.split('\n').find((one) => one.startsWith(`- [${title}](${path}): `));
    expect(line).toMatch(/: .{10,}/);
  }
});

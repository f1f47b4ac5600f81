import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { temporaryDirectory } from '../support/data-directory.js';
import { readPage, root } from '../support/page-examples.js';

test('the notices have a text for each package that the service runs with, and for those in the console', async () => {
  const file = join(await temporaryDirectory(), 'notices.md');
  await promisify(execFile)(process.execPath, [join(root, 'scripts/notices.js'), file]);
  const notices = await readFile(file, 'utf8');
  const sections = new Map(
    notices.split(/^## (?=\S+ \d+\.\d+\.\d+\S*$)/m).map((text) => [text.slice(0, text.indexOf(' ')), text]),
  );
  const { dependencies } = JSON.parse(readPage('package.json')) as { dependencies: Record<string, string> };
  const named = [...Object.keys(dependencies), 'react', 'uplot'];
  expect(named.filter((name) => !sections.has(name))).toEqual([]);
  expect(sections.has('jest')).toBe(false);
  expect(sections.get('express')).toContain('Copyright (c) 2009-2014 TJ Holowaychuk');
  const bare = [...sections.values()].filter((text) => !/^`{3,}text$|has no text of its licence/m.test(text));
  expect(bare.map((text) => text.slice(0, 20))).toEqual(['# Third-party notice']);
  expect(notices).not.toContain('licence not named');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keysProgram } from '../../src/auth/cli/keys-program.js';
import { problemCodes } from '../../src/errors/problem-codes.js';
import { readPage, root } from '../support/page-examples.js';

const page = readPage('docs/security.md');
const namesIn = (pattern: RegExp, text = page): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name!)),
];

/** The settings that src/config reads, and those that compose reads. */
const settings = new Set([
  ...namesIn(/@Setting\('(\w+)'/g, readFileSync(join(root, 'src/config/config.ts'), 'utf8')),
  ...namesIn(/\$\{(\w+):-/g, readPage('docker-compose.yml')),
]);

test('the security pages name only existing settings', () => {
  const pages = page + readPage('docs/hardening.md');
  const named = namesIn(/`(?:\$\{)?([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*)(?:=\w+)?\}?`/g, pages);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !settings.has(name) && name !== 'DATA_DIR')).toEqual([]);
});

test('the page lists each setting and key option that limits consumption', () => {
  const bounds = [...settings].filter(
    (name) => /^(MAX|RATE_LIMIT)_/.test(name) && name !== 'RATE_LIMIT_STATUS',
  );
  const create = keysProgram(() => Promise.resolve()).commands.find((command) => command.name() === 'create');
  const options = create!.options.flatMap(({ long }) =>
    /^--(max-(waiting|running)|rate-limit-|weight)/.test(long ?? '') ? [long!] : [],
  );
  expect(options.length).toBeGreaterThan(4);
  expect([...bounds, ...options].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('the table of consumption limits names only existing error codes and metrics', () => {
  const [, table] = /## What one key may consume\n([^]*?)\n\*\*/.exec(page)!;
  const rows = table!.split('\n').filter((line) => /^\| (?!resource|-)/.test(line));
  expect(rows.length).toBeGreaterThan(20);
  const codes = rows.flatMap((row) => namesIn(/`([a-z]+_[a-z_]+)`/g, row.split('|')[3]));
  expect(codes.filter((code) => !Object.hasOwn(problemCodes, code))).toEqual([]);
  const metrics = namesIn(/`(nowserving_\w+)`/g, table);
  const known = readPage('docs/metrics.md');
  expect(metrics.filter((name) => !known.includes(`\`${name}\``))).toEqual([]);
});

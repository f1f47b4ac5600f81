import { parse } from 'yaml';
import { version } from '../../src/config/package.js';
import { pages, readPage } from '../support/page-examples.js';

/** Returns what the groups of the pattern matched, at each place. */
function found(file: string, pattern: RegExp): string[] {
  return [...readPage(file).matchAll(pattern)].map(([, ...groups]) => groups.find(Boolean)!);
}

test('the service, its clients, the chart and the API have one version', () => {
  const json = (file: string): { version: string } => JSON.parse(readPage(file)) as { version: string };
  const locked = JSON.parse(readPage('package-lock.json')) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  const chart = parse(readPage('deploy/helm/nowserving/Chart.yaml')) as Record<string, string>;
  const { info } = JSON.parse(readPage('openapi.json')) as { info: { version: string } };
  expect({
    client: json('clients/typescript/package.json').version,
    lock: [locked, locked.packages['']!, locked.packages['clients/typescript']!].map((one) => one.version),
    python: found('clients/python/nowserving/_settings.py', /^__version__ = "(.*)"$/gm),
    chart: chart['version'],
    image: chart['appVersion'],
    openapi: info.version,
  }).toEqual({
    client: version,
    lock: [version, version, version],
    python: [version],
    chart: version,
    image: version,
    openapi: version,
  });
});

test('the pages name the files and tags of this version', () => {
  const named = pages.flatMap((page) =>
    found(page, /nowserving(?:-server)?-(\d[\w.-]*?)(?:-py3|\.t)|\bTAG=(\S+)/g),
  );
  expect(named.length).toBeGreaterThan(3);
  expect(new Set(named)).toEqual(new Set([version]));
});

test('the changelog has a dated section of this version below the unreleased section', () => {
  const sections = found('CHANGELOG.md', /^## (.*)$/gm);
  expect(sections[0]).toBe('Unreleased');
  const [released, day] = sections[1]!.split(' - ');
  expect(released).toBe(version);
  expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
});

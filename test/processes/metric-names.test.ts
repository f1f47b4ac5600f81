import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { scrape } from '../support/metrics.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ models: { 'test/model': {} } });

const root = new URL('../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const pages = readdirSync(fileURLToPath(new URL('docs', root)))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

interface Rules {
  groups: { rules: { alert: string; annotations: Record<string, string> }[] }[];
}
const alerts = (parse(text('deploy/alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);

interface Dashboard {
  panels: { type: string; title: string; description: string; targets?: { expr: string }[] }[];
}
const { panels } = JSON.parse(text('deploy/grafana.json')) as Dashboard;

/** Returns the metric names in a source, without the suffixes of histograms. */
const namesIn = (source: string): Set<string> =>
  new Set(
    [
      ...source.matchAll(
        /\b(?:nowserving_[a-z]+_[a-z_]+|nowserving_(?:runs|slots|streams)|(?:nodejs|process)_[a-z0-9_]+_(?:seconds|bytes|total))\b/g,
      ),
    ].map(([name]) => name.replace(/_(bucket|sum|count)$/, '')),
  );

let shown: string[];
beforeAll(async () => (shown = (await scrape(service)).names));

test.each(['deploy/alerts.yaml', 'deploy/alerts.test.yaml', 'deploy/grafana.json', ...pages])(
  'every metric in %s is one that /metrics shows',
  (path) => {
    const own = path === 'docs/metrics.md' ? /^nowserving_cluster_$/ : /^$/;
    const unknown = [...namesIn(text(path))].filter((name) => !shown.includes(name) && !own.test(name));
    expect(unknown).toEqual([]);
  },
);

test('docs/metrics.md has every metric of the service', () => {
  const known = namesIn(text('docs/metrics.md'));
  expect(shown.filter((name) => name.startsWith('nowserving_') && !known.has(name))).toEqual([]);
});

test('every alert has a runbook, and every runbook an alert', () => {
  const headings = [...text('docs/runbooks.md').matchAll(/^### (\S+)$/gm)].map(([, name]) => name!);
  expect(headings.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  for (const { alert, annotations } of alerts)
    expect(annotations['runbook_url']).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
});

test('every panel of the dashboard has a description and filters by the chosen jobs', () => {
  const drawn = panels.filter(({ type }) => type !== 'row');
  expect(drawn.length).toBeGreaterThan(20);
  for (const { title, description, targets = [] } of drawn) {
    expect([title, description]).not.toContain('');
    for (const { expr } of targets) expect(expr).toContain('job=~"$job"');
  }
});

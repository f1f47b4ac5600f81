import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrimaryWatch } from '../../drill/primary-watch.js';
import { haproxyConfiguration } from '../../drill/topology/haproxy.js';
import { patroniTimes } from '../../drill/topology/patroni-settings.js';
import { findPrograms, warningOf } from '../../drill/topology/programs.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { readPage } from '../support/page-examples.js';

const page = readPage('docs/high-availability.md');

test('the page has the settings of HAProxy that the drill uses', () => {
  const own = /^ *(bind|server) /;
  const lines = haproxyConfiguration(5_000, []).split('\n');
  expect(lines.filter((line) => !own.test(line) && !page.includes(line))).toEqual([]);
});

test('the page has the times of Patroni that the drill uses', () => {
  const { ttl, loop_wait, retry_timeout } = patroniTimes;
  expect(page).toMatch(new RegExp(`\\| \`ttl\` +\\| ${ttl} `));
  expect(page).toMatch(
    new RegExp(`\\| \`loop_wait\`, \`retry_timeout\` +\\| ${loop_wait}, ${retry_timeout} `),
  );
});

test('the drill names missing programs and the packages that contain them', async () => {
  const folder = await temporaryDirectory();
  const find = (): unknown => findPrograms(true, [folder], join(folder, 'versions'));
  expect(find).toThrow(/needs patroni, .*etcd.*apt-get: patroni /);
  const bin = join(folder, 'versions', '15', 'bin');
  mkdirSync(bin, { recursive: true });
  const write = (path: string): void => writeFileSync(path, '', { mode: 0o755 });
  for (const name of ['patroni', 'patronictl', 'etcd', 'haproxy']) write(join(folder, name));
  for (const name of ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup', 'pg_rewind', 'pg_controldata'])
    write(join(bin, name));
  expect(find).toThrow(/needs pgbouncer\./);
  write(join(folder, 'pgbouncer'));
  expect(find()).toMatchObject({ patroni: join(folder, 'patroni'), postgresBin: bin });
});

test('the drill warns of Patroni versions in which a frozen primary takes the leader key back', () => {
  expect(warningOf('patroni 3.0.2')).toContain('3.0.2 may lose');
  expect(warningOf('patroni 2.1.10')).toContain('2.1.10 may lose');
  for (const version of ['3.0.3', '3.1.0', '4.0.7']) expect(warningOf(`patroni ${version}`)).toBeUndefined();
});

test('an interruption of the database ends with the first write after the longest gap', () => {
  const watch = new PrimaryWatch([]);
  watch.writes.push(...[100, 900, 1_000, 4_000, 4_100].map((at) => ({ node: 'pg-1', at })));
  expect(watch.endOfLongestGap(950)).toBe(4_000);
  expect(watch.firstWrite(950)).toEqual({ node: 'pg-1', at: 1_000 });
  expect(watch.firstWrite(950, 'pg-1')).toBeUndefined();
});

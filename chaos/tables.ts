import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { mergeRows, renderRows, seconds } from './fault-table.js';
import { readResults, root, type Result } from './results.js';

const begin = '<!-- by npm run chaos -- --table -->';
const end = '<!-- until here -->';

/** Markdown of any number of runs: one row per run, then one row per kind of fault. */
export function tables(results: readonly Result[]): string {
  return [
    '',
    '| run | commit | seconds | database | requests | runs of models | faults | best burst: offered · accepted | slowest call | violations |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...results.map((result) => `| ${cells(result).join(' | ')} |`),
    '',
    ...renderRows(mergeRows(results.flatMap(({ faultRows }) => faultRows))),
    '',
  ].join('\n');
}

/** Writes the tables from all results in chaos/results. */
export async function writeTables(): Promise<void> {
  const path = join(root, 'docs/chaos.md');
  const text = readFileSync(path, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${path} has no markers for the tables`);
  const written = `${text.slice(0, from)}${begin}\n${tables(readResults())}\n${text.slice(to)}`;
  writeFileSync(path, await format(written, { parser: 'markdown', printWidth: 110 }));
}

function cells({ date, commit, options, bursts, ...result }: Result): (string | number)[] {
  const calm = bursts.filter((burst) => burst.calm);
  const offered = Math.max(0, ...calm.map(({ offeredPerSecond }) => offeredPerSecond));
  const accepted = Math.max(0, ...calm.map(({ acceptedPerSecond }) => acceptedPerSecond));
  return [
    `${date.slice(0, 10)}, ${options.seed}`,
    commit,
    options.seconds,
    options.pgbouncer ? 'PgBouncer' : 'direct',
    result.requests,
    result.runs,
    result.faults,
    `${offered}/s · ${accepted}/s`,
    seconds(result.worstCallMs),
    result.violations.length,
  ];
}

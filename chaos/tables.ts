import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { mergeRows, renderRows, seconds } from './fault-table.js';
import { readResults, root, type Result } from './results.js';

const begin = '<!-- by npm run chaos -- --table -->';
const end = '<!-- until here -->';

/**
 * Markdown of any number of runs: a row for each run with violations, a row for the other runs of each day, and then a
 * row for each kind of fault.
 */
export function tables(results: readonly Result[]): string {
  return [
    '',
    '| run | commit | seconds | database | requests | runs of models | faults | best burst: offered · accepted | slowest call | violations |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...groups(results).map((group) => `| ${cells(group).join(' | ')} |`),
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

/** Returns each run with violations by itself, and the other runs by day, database and scene, in their order. */
function groups(results: readonly Result[]): Result[][] {
  const found = new Map<string, Result[]>();
  for (const result of results) {
    const { date, options, violations } = result;
    const run = violations.length > 0 ? ` ${date} ${options.seed}` : '';
    const key = `${date.slice(0, 10)} ${options.pgbouncer} ${options.scene}${run}`;
    found.set(key, [...(found.get(key) ?? []), result]);
  }
  return [...found.values()];
}

function cells(group: readonly Result[]): (string | number)[] {
  const [{ date, commit, options }] = group as [Result];
  const calm = group.flatMap(({ bursts }) => bursts).filter((burst) => burst.calm);
  const offered = Math.max(0, ...calm.map(({ offeredPerSecond }) => offeredPerSecond));
  const accepted = Math.max(0, ...calm.map(({ acceptedPerSecond }) => acceptedPerSecond));
  const sum = (valueOf: (result: Result) => number): number =>
    group.reduce((total, result) => total + valueOf(result), 0);
  const violations = sum((result) => result.violations.length);
  return [
    [
      date.slice(0, 10),
      violations > 0 ? options.seed : `${group.length} runs`,
      ...(options.scene ? [options.scene] : []),
    ].join(', '),
    violations > 0 ? commit : '',
    sum((result) => result.options.seconds),
    options.pgbouncer ? 'PgBouncer' : 'direct',
    sum(({ requests }) => requests),
    sum(({ runs }) => runs),
    sum(({ faults }) => faults),
    `${offered}/s · ${accepted}/s`,
    seconds(Math.max(...group.map(({ worstCallMs }) => worstCallMs))),
    violations,
  ];
}

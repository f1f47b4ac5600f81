import { mergeRows, renderRows } from './fault-table.js';
import { readOptions, type Options } from './options.js';
import { type Result, runChaos } from './run-chaos.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  const results = new Map<number, Result>();
  for (let seed = options.seed; seed < options.seed + options.runs; seed++) {
    const repeat = commandFor({ ...options, seed });
    print(repeat);
    const result = await runChaos({ ...options, seed }, print);
    results.set(seed, result);
    print(result.violations === 0 ? 'sound' : `NOT SOUND; again: ${repeat}`);
  }
  if (options.runs > 1) print(summary(options, results));
  return [...results.values()].every(({ violations }) => violations === 0);
}

function commandFor({ seconds, seed, processes, pgbouncer, only }: Options): string {
  const more = `${pgbouncer ? ' --pgbouncer' : ''}${only.length === 0 ? '' : ` --only '${only.join()}'`}`;
  return `npm run chaos -- --seconds ${seconds} --seed ${seed} --processes ${processes}${more}`;
}

function summary({ seconds }: Options, results: ReadonlyMap<number, Result>): string {
  return [
    '',
    '| seed | seconds | requests | runs of a model | faults | violations |',
    '| --- | --- | --- | --- | --- | --- |',
    ...[...results].map(
      ([seed, { requests, runs, faults, violations }]) =>
        `| ${[seed, seconds, requests, runs, faults, violations].join(' | ')} |`,
    ),
    '',
    ...renderRows(mergeRows([...results.values()].flatMap(({ rows }) => rows))),
  ].join('\n');
}

main().then(
  (sound) => process.exit(sound ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(2);
  },
);

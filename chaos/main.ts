import { burstBar } from './load/bursts.js';
import { commandFor, readOptions, runsOf } from './options.js';
import { type Result, sourcesHere, writeResult } from './results.js';
import { runChaos } from './run-chaos.js';
import { tables, writeTables } from './tables.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  if (options.table) {
    await writeTables();
    return true;
  }
  const sources = sourcesHere();
  const results: Result[] = [];
  const runs = runsOf(options);
  for (const run of runs) {
    const command = commandFor(run);
    print(command);
    const result = await runChaos(run, sources, print);
    results.push(result);
    print(`written to ${await writeResult(result)}`);
    // A machine that is too busy to offer the burst is no fault of the service, but then the run proves nothing.
    const tooFew = result.bursts.filter(({ calm, offeredPerSecond }) => calm && offeredPerSecond < burstBar);
    if (tooFew.length > 0) {
      const reached = tooFew.map(({ offeredPerSecond }) => offeredPerSecond).join(', ');
      print(`bursts that did not reach ${burstBar} a second: ${tooFew.length} (${reached})`);
    }
    print(result.violations.length === 0 ? 'sound' : `NOT SOUND; again: ${command}`);
  }
  if (runs.length > 1) print(tables(results));
  return results.every(({ violations }) => violations.length === 0);
}

main().then(
  (sound) => process.exit(sound ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(2);
  },
);

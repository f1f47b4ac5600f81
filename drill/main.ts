import { commandFor, readOptions, usage } from './options.js';
import { writeResult } from './results.js';
import { runDrill } from './run-drill.js';
import { findPrograms, MissingPrograms, versionOf, warningOf } from './topology/programs.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) {
    print(usage);
    return false;
  }
  const programs = findPrograms(options.pgbouncer);
  const warning = warningOf(versionOf(programs.patroni));
  if (warning !== undefined) print(warning);
  const command = commandFor(options);
  print(command);
  const result = await runDrill(options, programs, print);
  print(`written to ${await writeResult(result)}`);
  // What asynchronous replication loses is measured, and no fault of the service.
  const isSound = options.async || result.violations.length === 0;
  print(isSound ? 'sound' : `NOT SOUND; again: ${command}`);
  return isSound;
}

main().then(
  (isSound) => process.exit(isSound ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`${error instanceof MissingPrograms ? error.message : error.stack}\n`);
    process.exit(1);
  },
);

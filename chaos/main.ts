import { runChaos } from './run-chaos.js';
import { readOptions } from './options.js';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  const repeat = `npm run chaos -- --seconds ${options.seconds} --seed ${options.seed} --processes ${options.processes}`;
  print(repeat);
  const sound = await runChaos(options, print);
  print(sound ? 'sound' : `NOT SOUND; again: ${repeat}`);
  process.exit(sound ? 0 : 1);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(2);
});

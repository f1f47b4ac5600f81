import { readFileSync } from 'node:fs';
import { attacks } from './attacks.js';

/** Runs one attack: `node attacker.js NAME SECONDS FILE`, where the file has the target as JSON. */
const [, , name, seconds, file] = process.argv;
const deadline = performance.now() + Number(seconds) * 1_000;
const target = {
  ...JSON.parse(readFileSync(file, 'utf8')),
  isOver: () => performance.now() >= deadline,
};
process.on('disconnect', () => process.exit(0));
// Ends hanging calls when the time is over.
setTimeout(() => process.exit(0), Number(seconds) * 1_000 + 2_000);
await attacks[name](target);
process.exit(0);

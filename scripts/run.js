#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';

/**
 * `node scripts/run.js keys --help` runs dist/src/keys.js as if it was called directly, after a build if necessary. It
 * runs in this same process, so that signals reach it. It is also the command `nowserving-server` of the package, which
 * starts the service if it names no program.
 */
const [name = 'main'] = process.argv.splice(2, 1);
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const programs = Object.values(scripts).flatMap(
  (script) => /^node scripts\/run\.js (\w+)$/.exec(script)?.[1] ?? [],
);
if (!programs.includes(name)) {
  console.error(
    `There is no program ${name}. Name one of ${programs.join(', ')}, or none to start the service.`,
  );
  process.exit(1);
}
const target = new URL(`../dist/src/${name}.js`, import.meta.url);
try {
  buildIfStale();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
process.argv[1] = fileURLToPath(target);
const watch = process.env.npm_command === undefined ? undefined : stopWithParent();
await import(target.href);
// After the first signal the watch ends: a second signal, sent when the parent ends, would hand back the runs at once.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  if (process.listenerCount(signal) > 0) process.once(signal, () => clearInterval(watch));
}

/** npm passes a SIGTERM only to its shell: the shell ends, and this process would go on with nothing to stop it. */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  return watch.unref();
}

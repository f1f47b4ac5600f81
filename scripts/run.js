import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';

/**
 * `node scripts/run.js main --flag`: runs dist/src/main.js as if it had been called itself, built first if
 * need be. In this same process, so that signals reach it.
 */
const [name] = process.argv.splice(2, 1);
const target = new URL(`../dist/src/${name}.js`, import.meta.url);
try {
  buildIfStale();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
process.argv[1] = fileURLToPath(target);
const watch = stopWithParent();
await import(target.href);
// What stops already takes no second signal from the end of its parent, which hands the runs back at once.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  if (process.listenerCount(signal) > 0) process.once(signal, () => clearInterval(watch));
}

/** npm passes a SIGTERM to its shell only: the shell ends, and we would run on with nobody to stop us. */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  return watch.unref();
}

import { writeFileSync } from 'node:fs';

/** Loaded into a service process: notes now and then what it holds after a collection. */
const everyMs = 10_000;

function probe() {
  globalThis.gc();
  writeFileSync(process.env.BENCH_HEAP_FILE, String(process.memoryUsage().heapUsed));
}

probe();
setInterval(probe, everyMs).unref();

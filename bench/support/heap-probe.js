import { writeFileSync } from 'node:fs';

/** Loaded into a service process: records every 10 s how much memory is in use after a collection. */
const everyMs = 10_000;

function probe() {
  globalThis.gc();
  writeFileSync(process.env.BENCH_HEAP_FILE, String(process.memoryUsage().heapUsed));
}

probe();
setInterval(probe, everyMs).unref();

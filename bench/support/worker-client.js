import { Agent } from 'node:http';
import { BenchWorker } from './worker-calls.js';

/*
 * Workers in a process of their own. Each claims as many runs as it has slots, ends them at once and claims again. If
 * nothing waits for their model, they are idle workers with waiting claims. Prints `claiming` when all have claimed.
 */
const [, , url, modelId, workers, slots] = process.argv;
const agent = new Agent({ keepAlive: true });
let leaving = false;

async function work() {
  const worker = new BenchWorker(url, modelId, agent);
  while (!leaving) {
    const runs = await worker.claim(Number(slots));
    await Promise.all(runs.map((run) => worker.finish(run)));
  }
}

process.on('disconnect', () => process.exit(0));
process.on('message', () => {
  leaving = true;
  process.exit(0);
});
for (let i = 0; i < Number(workers); i++) {
  work().catch((error) => {
    if (leaving) return;
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}
process.send('claiming');

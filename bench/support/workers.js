import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killAtExit } from './at-exit.js';
import { hrtimeMs } from './model-server.js';
import { BenchWorker } from './worker-calls.js';

const program = fileURLToPath(new URL('./worker-client.js', import.meta.url));

/**
 * Starts workers in a process of their own, which only end their runs.
 * @param {import('./bench.js').Bench} bench
 * @param {{ url: string }} service
 * @param {string} modelId
 * @param {{ workers: number, slots: number }} extent
 * @returns {Promise<{ pid: number, stop: () => Promise<void> }>}
 */
export async function startWorkers(bench, service, modelId, { workers, slots }) {
  const child = fork(program, [service.url, modelId, String(workers), String(slots)]);
  killAtExit(child);
  const exited = once(child, 'exit');
  let stopping = false;
  const stop = async () => {
    stopping = true;
    if (child.connected) child.send('leave');
    await exited;
  };
  bench.atEndOfScene(stop);
  const ended = exited.then(([code]) => {
    if (!stopping) throw new Error(`the workers ended by themselves, with ${code}`);
    return code;
  });
  await Promise.race([once(child, 'message'), ended]);
  ended.catch((error) => process.stderr.write(`${error.message}\n`));
  return { pid: child.pid, stop };
}

/**
 * A worker of this process whose claim always waits; it measures when a run arrives.
 * @param {import('./bench.js').Bench} bench
 * @param {{ url: string }} service
 * @param {string} modelId
 * @returns {() => Promise<number>} when the next run arrives, in ms of the monotonic clock
 */
export function workerArrivals(bench, service, modelId) {
  const worker = new BenchWorker(service.url, modelId);
  const waiting = [];
  let leaving = false;
  bench.atEndOfScene(async () => {
    leaving = true;
    worker.agent.destroy();
  });
  const work = async () => {
    while (!leaving) {
      const runs = await worker.claim(1);
      const atMs = hrtimeMs();
      for (const run of runs) {
        waiting.shift()?.resolve(atMs);
        await worker.finish(run);
      }
    }
  };
  work().catch((error) => {
    if (!leaving) for (const { reject } of waiting) reject(error);
  });
  return () => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

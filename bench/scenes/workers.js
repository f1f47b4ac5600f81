import { setTimeout as delay } from 'node:timers/promises';
import { keyHeader } from '../support/built-service.js';
import { cpuMsOf, residentBytesOf } from '../support/cpu.js';
import { drainService } from '../support/drains.js';
import { latencyOf } from '../support/latency.js';
import { frequencies, loggedDatabase, queriesIn } from '../support/logged-queries.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, missingRow, plainRow, samplesRow, turnsRow } from '../support/rows.js';
import { median, percentile } from '../support/stats.js';
import { startWorkers, workerArrivals } from '../support/workers.js';

/** Samples of one turn, which takes some seconds. */
const samples = 100;
/** Longer than a claim waits: each claim is answered empty meanwhile, and sent again. */
const idle = { workers: 1_000, settleSeconds: 30, seconds: 60 };
const idleShort = { workers: 200, settleSeconds: 5, seconds: 30 };
const fleet = { workers: 4, slots: 100 };

export const scene = {
  number: 32,
  name: 'workers',
  title: 'workers: sent to claimed, idle, jobs',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const claimed = await claimRows(bench);
    await bench.endScene();
    const held = await idleRows(bench);
    await bench.endScene();
    return [...claimed, ...held, ...(await lifeRows(bench))];
  },
};

/** Both subjects run in one process: the worker's claim waits while the other is measured. */
async function claimRows(bench) {
  const service = await bench.service({ databaseUrl: await bench.serviceDatabase() });
  const subject = (model) => ({ url: `${service.url}/v1/queue/bench/${model}`, headers: keyHeader });
  const nextArrival = workerArrivals(bench, service, 'bench/worker');
  const { worker, http } = await interleave(bench.rounds, {
    worker: await latencyOf(bench, { ...subject('worker'), nextArrival }, samples),
    http: await latencyOf(bench, subject('timed'), samples),
  });
  return [
    plainRow('median ms, sent to worker has the run', median(worker.flat()), { most: 10 }),
    samplesRow('median ms', worker, 'http runner', http),
    plainRow('p99 ms', percentile(worker.flat(), 99)),
  ];
}

async function idleRows(bench) {
  const { workers, settleSeconds, seconds } = bench.short ? idleShort : idle;
  const databaseUrl = await loggedDatabase(bench);
  const service = await bench.service({ databaseUrl });
  await delay(5_000);
  const bytesBefore = residentBytesOf(service.pid);
  await startWorkers(bench, service, 'bench/worker', { workers, slots: 1 });
  await delay(settleSeconds * 1_000);
  const eachKiB = (residentBytesOf(service.pid) - bytesBefore) / workers / 1024;
  const from = bench.postgres.logSize();
  const cpuBefore = cpuMsOf(service.pid);
  await delay(seconds * 1_000);
  const cores = (cpuMsOf(service.pid) - cpuBefore) / (seconds * 1_000);
  const queries = queriesIn(bench.postgres.logSince(from), databaseUrl);
  return [
    plainRow(`queries/s, ${workers.toLocaleString('en')} idle workers`, queries.length / seconds, {
      most: 5,
    }),
    missingRow('which', frequencies(queries, seconds)),
    plainRow('KiB of memory an idle worker', eachKiB),
    plainRow('cores for idle workers', cores),
  ];
}

/** Measures requests that are started, ended and durable, for both kinds of runner. */
async function lifeRows(bench) {
  const count = bench.short ? 2_000 : 20_000;
  const { worker, http } = await interleave(bench.rounds, {
    worker: () => drainService(bench, count, { modelId: 'bench/worker', workers: fleet }),
    http: () => drainService(bench, count, { modelId: 'bench/http' }),
  });
  return [
    turnsRow('jobs/s', worker, 'http runner', http, { bar: { least: 0.5 } }),
    ...(bench.short ? [] : cpuRows('job', worker, http, 'http runner')),
  ];
}

import { cpuMsOf, cpuMsOfChildren } from './cpu.js';
import { smallInput } from './inputs.js';
import { hrtimeMs } from './model-server.js';
import { withClient } from './postgres.js';
import { preloadWaiting } from './preload.js';
import { until } from './until.js';
import { startWorkers } from './workers.js';

/*
 * Each function fills a fresh database, starts a fresh process, and measures two things: the jobs a second from the
 * first start to the last durable end, and the processor time of a job, in the process and in PostgreSQL.
 */

/**
 * @typedef {object} Drain
 * @property {number} perSecond
 * @property {number} processUs
 * @property {number} postgresUs
 */

/**
 * @param {import('./bench.js').Bench} bench
 * @param {number} count
 * @param {{ modelId?: string, processes?: number, workers?: { workers: number, slots: number } }
 *   & import('./preload.js').Senders} [options]
 * @returns {Promise<Drain>}
 */
export async function drainService(bench, count, options = {}) {
  const { modelId = 'bench/noop', processes = 1, workers, ...senders } = options;
  const databaseUrl = await bench.serviceDatabase();
  await preloadWaiting(databaseUrl, modelId, count, smallInput, senders);
  const env = { WEBHOOK_ALLOW: '127.0.0.1' };
  const meter = cpuMeter(bench);
  const services = await Promise.all(
    Array.from({ length: processes }, () => bench.service({ databaseUrl, env })),
  );
  const fleet = workers && (await startWorkers(bench, services[0], modelId, workers));
  await until(databaseUrl, 'NOT EXISTS (SELECT FROM queue_entry) AND NOT EXISTS (SELECT FROM lease)', 100);
  const seconds = await secondsOf(
    databaseUrl,
    `SELECT extract(epoch FROM max(completed_at) - min(started_at)) AS seconds,
            count(*) FILTER (WHERE outcome = 'succeeded') AS done FROM request`,
    count,
  );
  const cpu = meter(services, count);
  await fleet?.stop();
  await Promise.all(services.map((service) => service.stop()));
  return { perSecond: count / seconds, ...cpu };
}

/**
 * @param {import('./bench.js').Bench} bench
 * @param {number} count
 * @param {'plain' | 'outputs'} mode whether each job's output is kept
 * @returns {Promise<Drain>}
 */
export async function drainPgBoss(bench, count, mode) {
  const databaseUrl = await bench.emptyDatabase();
  await fill(bench, 'pg-boss-drain.js', databaseUrl, count);
  await withClient(databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
  const meter = cpuMeter(bench);
  const worker = await bench.peer('pg-boss-drain.js', { DATABASE_URL: databaseUrl, MODE: mode });
  await until(
    databaseUrl,
    `NOT EXISTS (SELECT FROM pgboss.job WHERE name = 'bench' AND state < 'completed')`,
    100,
  );
  const seconds = await secondsOf(
    databaseUrl,
    `SELECT extract(epoch FROM max(completed_on) - min(started_on)) AS seconds,
            count(*) FILTER (WHERE state = 'completed') AS done
     FROM pgboss.job WHERE name = 'bench'`,
    count,
  );
  const cpu = meter([worker], count);
  await worker.stop();
  return { perSecond: count / seconds, ...cpu };
}

/**
 * It deletes completed jobs, so its time is measured outside.
 * @param {import('./bench.js').Bench} bench
 * @param {number} count
 * @param {'plain' | 'batched'} mode
 * @returns {Promise<Drain>}
 */
export async function drainGraphileWorker(bench, count, mode) {
  const databaseUrl = await bench.emptyDatabase();
  await fill(bench, 'graphile-worker-drain.js', databaseUrl, count);
  await withClient(databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
  const meter = cpuMeter(bench);
  const worker = await bench.peer('graphile-worker-drain.js', { DATABASE_URL: databaseUrl, MODE: mode });
  await until(databaseUrl, 'NOT EXISTS (SELECT FROM graphile_worker._private_jobs)', 10);
  const endedAtMs = hrtimeMs();
  const { firstAtMs } = await worker.firstMessage;
  const cpu = meter([worker], count);
  await worker.stop();
  return { perSecond: count / ((endedAtMs - firstAtMs) / 1_000), ...cpu };
}

/**
 * It completes each job by itself, and keeps completed jobs.
 * @param {import('./bench.js').Bench} bench
 * @param {number} count
 * @param {Record<string, string>} store REDIS_URL or DATABASE_URL
 * @returns {Promise<Drain>}
 */
export async function drainBullmq(bench, count, store) {
  const filler = await bench.peer('bullmq-drain.js', { ...store, FILL: String(count), INPUT: smallInput });
  await filler.stop();
  const meter = cpuMeter(bench);
  const worker = await bench.peer('bullmq-drain.js', { ...store, COUNT: String(count) });
  const { seconds } = await worker.firstMessage;
  const cpu = meter([worker], count);
  await worker.stop();
  return { perSecond: count / seconds, ...cpu };
}

/** Measures processor time, including that of the start, which is little over many jobs. */
export function cpuMeter(bench) {
  const before = cpuMsOfChildren(bench.postgres.pid);
  return (processes, count) => ({
    processUs: (processes.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0) * 1_000) / count,
    postgresUs: ((cpuMsOfChildren(bench.postgres.pid) - before) * 1_000) / count,
  });
}

async function fill(bench, program, databaseUrl, count) {
  const filler = await bench.peer(program, {
    DATABASE_URL: databaseUrl,
    FILL: String(count),
    INPUT: smallInput,
  });
  await filler.stop();
}

export async function secondsOf(databaseUrl, query, count) {
  const { rows } = await withClient(databaseUrl, (client) => client.query(query));
  if (Number(rows[0].done) !== count) throw new Error(`${rows[0].done} of ${count} succeeded`);
  return Number(rows[0].seconds);
}

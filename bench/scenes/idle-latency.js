import { keyHeader } from '../support/built-service.js';
import { latencyOf } from '../support/latency.js';
import { interleave } from '../support/rounds.js';
import { missingRow, ratioRow, samplesRow, shown } from '../support/rows.js';
import { percentile } from '../support/stats.js';

/** Samples of one turn, which takes a second, so that other work of the machine affects all subjects alike. */
const samples = 30;
const turnsInRound = 10;

export const scene = {
  number: 7,
  name: 'latency',
  title: 'idle: sent to handler started',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const subjects = await latencySubjects(bench);
    for (const [name, subject] of Object.entries(subjects))
      subjects[name] = await latencyOf(bench, subject, samples);
    const measured = await interleave(bench.short ? bench.rounds : bench.rounds * turnsInRound, subjects);
    const { service, bullmq, bullmqPostgres, graphile, boss } = measured;
    const p99 = (turns) => percentile(turns.flat(), 99);
    return [
      bullmq === undefined
        ? missingRow('median ms against BullMQ', 'redis-server is not installed')
        : samplesRow('median ms', service, 'BullMQ', bullmq, { most: 1 }),
      ratioRow('p99 ms', p99(service), 'graphile-worker', p99(graphile), { most: 1, tail: true }),
      samplesRow('median ms', service, 'graphile-worker', graphile),
      samplesRow('median ms', service, 'pg-boss', boss),
      shown(samplesRow('median ms', service, 'BullMQ on PostgreSQL', bullmqPostgres)),
    ];
  },
};

async function latencySubjects(bench) {
  const service = await bench.service({ databaseUrl: await bench.serviceDatabase() });
  const boss = await bench.peer('pg-boss.js', { DATABASE_URL: await bench.emptyDatabase(), WORK: 'on' });
  const graphile = await bench.peer('graphile-worker.js', {
    DATABASE_URL: await bench.emptyDatabase(),
    WORK: 'on',
  });
  const bullmqPostgres = await bench.peer('bullmq.js', {
    DATABASE_URL: await bench.emptyDatabase(),
    WORK: 'on',
  });
  const bullmq =
    bench.redis === undefined
      ? undefined
      : await bench.peer('bullmq.js', { REDIS_URL: bench.redis.url, WORK: 'on' });
  return {
    service: { url: `${service.url}/v1/queue/bench/timed`, headers: keyHeader },
    boss: { url: `${boss.url}/submit` },
    graphile: { url: `${graphile.url}/submit` },
    bullmqPostgres: { url: `${bullmqPostgres.url}/submit` },
    ...(bullmq === undefined ? {} : { bullmq: { url: `${bullmq.url}/submit` } }),
  };
}

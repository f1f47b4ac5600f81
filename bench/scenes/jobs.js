import { drainBullmq, drainGraphileWorker, drainPgBoss, drainService } from '../support/drains.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, missingRow, shown, turnsRow } from '../support/rows.js';

export const scene = {
  number: 6,
  name: 'jobs',
  title: '60,000 that wait, start to durable end',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 5_000 : 60_000;
    const measured = await interleave(bench.rounds, {
      service: () => drainService(bench, count),
      boss: () => drainPgBoss(bench, count, 'plain'),
      bossOutputs: () => drainPgBoss(bench, count, 'outputs'),
      batched: () => drainGraphileWorker(bench, count, 'batched'),
      plain: () => drainGraphileWorker(bench, count, 'plain'),
      bullmqPostgres: async () => drainBullmq(bench, count, { DATABASE_URL: await bench.emptyDatabase() }),
      ...(bench.redis && { bullmq: () => drainBullmq(bench, count, { REDIS_URL: bench.redis.url }) }),
    });
    const row = (against, name, bar) =>
      turnsRow('jobs/s', measured.service, against, measured[name], { bar });
    return [
      row('pg-boss, batches', 'boss', { least: 1 }),
      shown(row('pg-boss, batches, outputs', 'bossOutputs')),
      row('graphile-worker, batches', 'batched', { least: 0.5 }),
      row('graphile-worker, plain', 'plain', { least: 3 }),
      shown(row('BullMQ on PostgreSQL', 'bullmqPostgres')),
      measured.bullmq === undefined
        ? missingRow('jobs/s against BullMQ', 'redis-server is not installed')
        : shown(row('BullMQ', 'bullmq')),
      // With few jobs, most of the time is start-up.
      ...(bench.short
        ? []
        : [
            ...cpuRows('job', measured.service, measured.boss, 'pg-boss, batches'),
            ...cpuRows('job', measured.service, measured.batched, 'graphile-worker, batches'),
          ]),
    ];
  },
};

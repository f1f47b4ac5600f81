import { drainGraphileWorker, drainPgBoss, drainService } from '../support/drains.js';
import { interleave } from '../support/rounds.js';
import { ratioRow } from '../support/rows.js';
import { median } from '../support/stats.js';

const maxRounds = 3;

export const scene = {
  number: 6,
  name: 'life',
  title: 'full life of a no-op request, without its submission',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 5_000 : 30_000;
    const measured = await interleave(Math.min(bench.rounds, maxRounds), {
      service: () => drainService(bench, count),
      boss: () => drainPgBoss(bench, count),
      batched: () => drainGraphileWorker(bench, count, 'batched'),
      plain: () => drainGraphileWorker(bench, count, 'plain'),
    });
    const service = median(measured.service);
    return [
      ratioRow('lives/s', service, 'pg-boss, batches', median(measured.boss), { least: 1 }),
      ratioRow('lives/s', service, 'graphile-worker, batches', median(measured.batched), { least: 0.5 }),
      ratioRow('lives/s', service, 'graphile-worker, plain', median(measured.plain), { least: 3 }),
    ];
  },
};

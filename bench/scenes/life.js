import { drainGraphileWorker, drainPgBoss, drainService } from '../support/drains.js';
import { interleave, medianOf } from '../support/rounds.js';
import { cpuRows, ratioRow } from '../support/rows.js';

const maxRounds = 3;

export const scene = {
  number: 6,
  name: 'life',
  title: 'full life of a no-op request, without its submission',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 5_000 : 60_000;
    const measured = await interleave(Math.min(bench.rounds, maxRounds), {
      service: () => drainService(bench, count),
      boss: () => drainPgBoss(bench, count, 'plain'),
      bossOutputs: () => drainPgBoss(bench, count, 'outputs'),
      batched: () => drainGraphileWorker(bench, count, 'batched'),
      plain: () => drainGraphileWorker(bench, count, 'plain'),
    });
    const lives = (name) => medianOf(measured[name], 'perSecond');
    return [
      ratioRow('lives/s', lives('service'), 'pg-boss, batches', lives('boss'), { least: 1 }),
      ratioRow('lives/s', lives('service'), 'pg-boss, batches, outputs kept', lives('bossOutputs')),
      ratioRow('lives/s', lives('service'), 'graphile-worker, batches', lives('batched'), { least: 0.5 }),
      ratioRow('lives/s', lives('service'), 'graphile-worker, plain', lives('plain'), { least: 3 }),
      // Over few lives most of it is starting up.
      ...(bench.short
        ? []
        : [
            ...cpuRows('life', measured.service, measured.boss, 'pg-boss, batches'),
            ...cpuRows('life', measured.service, measured.batched, 'graphile-worker, batches'),
          ]),
    ];
  },
};

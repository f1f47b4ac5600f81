import { drainService } from '../support/drains.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';

export const scene = {
  number: 23,
  name: 'jobs-webhook',
  title: '20,000 that wait, with a webhook each',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 5_000 : 20_000;
    const webhookUrls = [`${bench.model.url}/receiver`];
    const { plain, webhook } = await interleave(bench.rounds, {
      plain: () => drainService(bench, count),
      webhook: () => drainService(bench, count, { webhookUrls }),
    });
    return [
      turnsRow('jobs/s with', webhook, 'without', plain, { bar: { least: 0.7 } }),
      ...cpuRows('job', webhook, plain, 'without'),
    ];
  },
};

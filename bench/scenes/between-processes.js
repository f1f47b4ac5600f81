import { keyHeader } from '../support/built-service.js';
import { latencyOf } from '../support/latency.js';
import { interleave } from '../support/rounds.js';
import { ratioRow } from '../support/rows.js';
import { median, percentile } from '../support/stats.js';

export const scene = {
  number: 8,
  name: 'api-to-scheduler',
  title: 'the same, api to scheduler process',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const alone = await bench.service({ databaseUrl: await bench.serviceDatabase() });
    const databaseUrl = await bench.serviceDatabase();
    await bench.service({ databaseUrl, role: 'scheduler' });
    const api = await bench.service({ databaseUrl, role: 'api' });
    const count = bench.short ? 30 : 100;
    const of = ({ url }) =>
      latencyOf(bench, { url: `${url}/v1/queue/bench/timed`, headers: keyHeader }, count);
    const measured = await interleave(bench.rounds, { alone: await of(alone), apart: await of(api) });
    const [one, two] = [measured.alone.flat(), measured.apart.flat()];
    return [
      ratioRow('median ms', median(two), 'one process', median(one), { most: 2 }),
      ratioRow('p99 ms', percentile(two, 99), 'one process', percentile(one, 99)),
    ];
  },
};

import { keyHeader } from '../support/built-service.js';
import { latencyOf } from '../support/latency.js';
import { interleave } from '../support/rounds.js';
import { ratioRow, samplesRow } from '../support/rows.js';
import { percentile } from '../support/stats.js';

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
    const { one, two } = await interleave(bench.rounds, { one: await of(alone), two: await of(api) });
    const p99 = (turns) => percentile(turns.flat(), 99);
    return [
      samplesRow('median ms', two, 'one process', one, { most: 2 }),
      ratioRow('p99 ms', p99(two), 'one process', p99(one)),
    ];
  },
};

import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';
import { postScript } from '../support/wrk.js';

const connections = 32;

export const scene = {
  number: 22,
  name: 'submit-webhook',
  title: 'submit with a webhook',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const env = { WEBHOOK_ALLOW: '127.0.0.1' };
    const service = await bench.service({ databaseUrl: await bench.serviceDatabase(), env });
    const load = (query) => (seconds) =>
      bench.load(service, postScript(`/v1/queue/bench/held${query}`, smallInput, keyHeader), {
        connections,
        seconds,
      });
    const subjects = {
      plain: load(''),
      webhook: load(`?webhook=${encodeURIComponent(`${bench.model.url}/receiver`)}`),
    };
    for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
    const { plain, webhook } = await interleave(bench.rounds, subjects);
    return [
      turnsRow('submits/s with', webhook, 'without', plain, { bar: { least: 0.8 } }),
      ...cpuRows('submit', webhook, plain, 'without'),
    ];
  },
};

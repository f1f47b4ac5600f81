import { callersScript } from '../support/callers.js';
import { smallInput } from '../support/inputs.js';
import { proxiedSubjects } from '../support/proxied-subjects.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, limitedPeerRows, turnsRow } from '../support/rows.js';

const keys = 4_000;
const calls = 3 * keys;

export const scene = {
  number: 17,
  name: 'submit-shipped',
  title: 'submit, 4,000 keys, shipped limits, a proxy',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const script = (path) =>
      callersScript({ calls, key: `n % ${keys}`, method: 'POST', paths: [path], body: smallInput });
    const subjects = await proxiedSubjects(bench, {
      keys,
      callers: keys,
      perMinute: 100,
      serviceScript: () => Promise.resolve(script('/v1/queue/bench/held')),
      bareScript: () => Promise.resolve(script('/submit')),
    });
    const measured = await interleave(bench.rounds, subjects);
    const { service, bare } = measured;
    return [
      turnsRow('submits/s', service, 'bare', bare, { bar: { least: 1.5 } }),
      turnsRow('p99 ms', service, 'bare', bare, { field: 'p99' }),
      ...limitedPeerRows('submits/s', measured),
      ...cpuRows('submit', service, bare, 'bare'),
    ];
  },
};

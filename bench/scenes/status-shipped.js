import { callersScript, giveEverySecondToKeys } from '../support/callers.js';
import { smallInput } from '../support/inputs.js';
import { preloadWaiting, sampleWaiting } from '../support/preload.js';
import { proxiedSubjects } from '../support/proxied-subjects.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, limitedPeerRows, turnsRow } from '../support/rows.js';
import { insertBare } from './status.js';

/** Every second call has no key; its caller is its address. */
const callers = 8_000;
const keys = callers / 2;

export const scene = {
  number: 18,
  name: 'status-shipped',
  title: 'the same, status, half without a key',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const script = (paths) =>
      callersScript({ calls: callers, key: 'n % 2 == 0 and n / 2 or nil', method: 'GET', paths });
    const subjects = await proxiedSubjects(bench, {
      keys,
      callers,
      perMinute: 1_800,
      serviceScript: async (url) => {
        // The first request of the queue runs.
        await preloadWaiting(url, 'bench/held', callers + 1, smallInput);
        const ids = await sampleWaiting(url, callers);
        await giveEverySecondToKeys(url, ids);
        return script(ids.map((id) => `/v1/queue/requests/${id}/status`));
      },
      bareScript: async (url) =>
        script((await insertBare(url, callers, callers)).map((id) => `/status/${id}`)),
    });
    const measured = await interleave(bench.rounds, subjects);
    const { service, bare } = measured;
    return [
      turnsRow('statuses/s', service, 'bare', bare, { bar: { least: 1.3 } }),
      turnsRow('p99 ms', service, 'bare', bare, { field: 'p99' }),
      ...limitedPeerRows('statuses/s', measured),
      ...cpuRows('status', service, bare, 'bare'),
    ];
  },
};

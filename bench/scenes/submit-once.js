import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';
import { postScript } from '../support/wrk.js';

const connections = 32;
let series = 0;

/** Each call has an idempotency key of its own, like calls of the client libraries. */
const keyed = (script) => `${script}
local n = 0
request = function()
  n = n + 1
  wrk.headers["Idempotency-Key"] = "bench-${++series}-" .. n
  return wrk.format()
end`;

export const scene = {
  number: 35,
  name: 'submit-once',
  title: 'submit with an Idempotency-Key',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const service = await bench.service({ databaseUrl: await bench.serviceDatabase() });
    const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
    const load = (scriptOf) => (seconds) => bench.load(service, scriptOf(script), { connections, seconds });
    const subjects = { plain: load((same) => same), keyed: load(keyed) };
    for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
    const { plain, keyed: once } = await interleave(bench.rounds, subjects);
    return [
      turnsRow('submits/s with', once, 'without', plain, { bar: { least: 0.7 } }),
      ...cpuRows('submit', once, plain, 'without'),
    ];
  },
};

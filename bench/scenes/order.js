import { callersScript, insertKeys } from '../support/callers.js';
import { drainService } from '../support/drains.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';

const keys = 1_000;
const connections = 32;
const bar = { least: 0.97 };

export const scene = {
  number: 28,
  name: 'order',
  title: 'fair order beside arrival, 1,000 keys',
  turnSeconds: 10,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 5_000 : 60_000;
    const submits = await interleave(bench.rounds, await submitTurns(bench));
    const drained = await interleave(bench.rounds, drains(bench, count, true));
    // Keys that take turns make the claims read rows in another order than they were written in, a page for each row.
    const batches = await interleave(bench.rounds, drains(bench, count, false));
    return [
      turnsRow('submits/s, fair', submits.fair, 'arrival', submits.arrival, { bar }),
      turnsRow('jobs/s, fair, keys sent in turn', drained.fair, 'arrival', drained.arrival, { bar }),
      turnsRow('jobs/s, fair, keys sent batches', batches.fair, 'arrival', batches.arrival, { bar }),
      ...cpuRows('submit', submits.fair, submits.arrival, 'arrival'),
      ...cpuRows('job', drained.fair, drained.arrival, 'arrival'),
    ];
  },
};

const drains = (bench, count, inTurn) => ({
  fair: () => drainService(bench, count, { keys, inTurn }),
  arrival: () => {
    const options = { modelId: 'bench/noop-arrival', keys, inTurn, order: 'arrival' };
    return drainService(bench, count, options);
  },
});

/** Both models are served by one process, because two equal processes differ by some per cent. */
async function submitTurns(bench) {
  const databaseUrl = await bench.serviceDatabase();
  await insertKeys(databaseUrl, keys);
  const service = await bench.service({ databaseUrl, env: { TRUST_PROXY: '1' } });
  const load = (modelId) => {
    const paths = [`/v1/queue/${modelId}`];
    const script = callersScript({ calls: keys, key: 'n', method: 'POST', paths, body: smallInput });
    return (seconds) => bench.load(service, script, { connections, seconds });
  };
  const turns = { fair: load('bench/held'), arrival: load('bench/held-arrival') };
  for (const warmUp of Object.values(turns)) await warmUp(bench.warmUpSeconds);
  return turns;
}

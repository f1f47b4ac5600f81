import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { ratioRow } from '../support/rows.js';
import { mean, standardError } from '../support/stats.js';
import { postScript } from '../support/wrk.js';

const processes = 4;
const connectionsEach = 16;
/**
 * The scene looks for a difference of a few per cent, while the speed of a shared machine may halve or double within a
 * second. Therefore turns are as short as they can be, and the means are of all turns.
 */
const turnSeconds = 1;
/**
 * Pairs for each order of starts. With 20 in all, the ratio's standard error is nearly as large as the margin of the
 * bar.
 */
const maxPairs = 40;
const pairsInRound = 8;
/** The pause in which the notifications of a turn's last submissions are sent. */
const pendingMs = 500;
const silencer = new URL('../support/no-notifications.js', import.meta.url).href;

export const scene = {
  number: 11,
  name: 'notifications',
  title: `submit, ${processes} processes, notifications`,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const pairs = Math.max(2, Math.min(maxPairs, bench.rounds * pairsInRound));
    // Even between equal fleets the one started first is slower by some per cent, so each is first once.
    const onFirst = await turns(bench, ['on', 'off'], pairs);
    const offFirst = await turns(bench, ['off', 'on'], pairs);
    const on = [...onFirst.on, ...offFirst.on];
    const off = [...onFirst.off, ...offFirst.off];
    const errors = [onFirst, offFirst].map((half) =>
      standardError(half.on.map((value, turn) => value / half.off[turn])),
    );
    const error = Math.hypot(...errors) / errors.length;
    return [
      { ...ratioRow('submits/s, on', mean(on), 'off', mean(off), { least: 0.95 }), error },
      ratioRow('the same, on started first', mean(onFirst.on), 'off', mean(onFirst.off)),
      ratioRow('the same, off started first', mean(offFirst.on), 'off', mean(offFirst.off)),
    ];
  },
};

/**
 * Measures `pairs` turns of either fleet, in pairs.
 * @param {import('../support/bench.js').Bench} bench
 * @param {('on' | 'off')[]} order in which they are started
 * @param {number} pairs
 */
async function turns(bench, order, pairs) {
  const fleets = {};
  for (const name of order) fleets[name] = await startFleet(bench, name);
  const { on, off } = fleets;
  for (const fleet of [on, off]) await fleet.load(bench.warmUpSeconds);
  const turnOf = async (fleet) => {
    const perSecond = await fleet.load(turnSeconds);
    await delay(pendingMs);
    return perSecond;
  };
  const measured = await interleave(pairs, { on: () => turnOf(on), off: () => turnOf(off) });
  for (const fleet of [on, off]) await fleet.stop();
  return measured;
}

async function startFleet(bench, name) {
  const databaseUrl = await bench.serviceDatabase();
  const services = [];
  for (let i = 0; i < processes; i++) {
    services.push(await bench.service({ databaseUrl, ...(name === 'off' ? silenced(bench) : {}) }));
  }
  const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
  return {
    async load(seconds) {
      const loads = services.map((service) =>
        bench.load(service, script, { connections: connectionsEach, seconds }),
      );
      return (await Promise.all(loads)).reduce((sum, { perSecond }) => sum + perSecond, 0);
    },
    stop: () => Promise.all(services.map((service) => service.stop())),
  };
}

function silenced(bench) {
  return {
    nodeArgs: ['--import', silencer],
    env: {
      BENCH_CLUSTER_MODULE: pathToFileURL(join(bench.built.directory, 'dist/src/queue/cluster/cluster.js'))
        .href,
    },
  };
}

import { callersScript, insertKeys } from '../support/callers.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';
import { withinLimit } from '../support/within-limit.js';

const processes = 2;
const connectionsEach = 16;
const keys = 4_000;
const calls = 3 * keys;

export const scene = {
  number: 20,
  name: 'balanced',
  title: 'two processes behind a balancer',
  turnSeconds: 3,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    // Even between equal fleets the one started first is slower by some per cent, so each is first once.
    const halves = [await turns(bench, ['shipped', 'off']), await turns(bench, ['off', 'shipped'])];
    const of = (limits) => halves.flatMap((half) => half[limits]);
    return [
      turnsRow('submits/s', of('shipped'), 'limits off', of('off'), { bar: { least: 0.9 } }),
      turnsRow('p99 ms', of('shipped'), 'limits off', of('off'), { field: 'p99' }),
      ...cpuRows('submit', of('shipped'), of('off'), 'limits off'),
    ];
  },
};

async function turns(bench, order) {
  const fleets = [];
  for (const limits of order) fleets.push([limits, await startFleet(bench, limits)]);
  for (const [, fleet] of fleets) await fleet.meetAll();
  const measured = await interleave(
    bench.rounds,
    Object.fromEntries(fleets.map(([limits, fleet]) => [limits, () => fleet.load(bench.turnSeconds)])),
  );
  for (const [, fleet] of fleets) await fleet.stop();
  return measured;
}

/** Each caller's calls alternate between the processes, because the two loads are half of the callers apart. */
async function startFleet(bench, limits) {
  const databaseUrl = await bench.serviceDatabase();
  await insertKeys(databaseUrl, keys);
  const services = [];
  for (let i = 0; i < processes; i++) {
    services.push(await bench.service({ databaseUrl, limits, env: { TRUST_PROXY: '1' } }));
  }
  const connections = connectionsEach;
  const scripts = services.map((_, i) =>
    callersScript({
      calls,
      key: `n % ${keys}`,
      from: (i * keys) / processes,
      method: 'POST',
      paths: ['/v1/queue/bench/held'],
      body: smallInput,
    }),
  );
  const loads = services.map(
    (service, i) => (seconds) => bench.load(service, scripts[i], { connections, seconds }),
  );
  const all = async (seconds) => {
    const each = await Promise.all(loads.map((load) => load(seconds)));
    const sum = (field) => each.reduce((total, load) => total + load[field], 0);
    const p99 = Math.max(...each.map((load) => load.p99));
    const answers = sum('answers');
    const processUs = each.reduce((total, load) => total + load.processUs * load.answers, 0) / answers;
    // Each load measured all of PostgreSQL.
    const postgresUs = (each[0].postgresUs * each[0].answers) / answers;
    return { answers, perSecond: sum('perSecond'), p99, processUs, postgresUs };
  };
  return {
    // Another scene measures first calls. Here each process has met each caller.
    meetAll: () =>
      Promise.all(
        services.map((one, i) => bench.firstAnswers(one, scripts[i], { connections, count: keys })),
      ),
    load: limits === 'off' ? all : withinLimit(all, { callers: keys, perMinute: 100 }),
    stop: () => Promise.all(services.map((service) => service.stop())),
  };
}

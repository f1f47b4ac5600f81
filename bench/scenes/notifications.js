import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { ratioRow } from '../support/rows.js';
import { mean } from '../support/stats.js';
import { postScript } from '../support/wrk.js';

const processes = 4;
const connectionsEach = 16;
const warmUpSeconds = 3;
/**
 * What is asked for is a difference of a few per cent, and a shared machine is half or twice as fast a second later:
 * turns as short as they can be, and all of what was answered in them.
 */
const turnSeconds = 1;
const silencer = new URL('../support/no-notifications.js', import.meta.url).href;

export const scene = {
  number: 11,
  name: 'notifications',
  title: `submit over ${processes} processes, notifications on and off`,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const off = {
      nodeArgs: ['--import', silencer],
      env: {
        BENCH_CLUSTER_MODULE: pathToFileURL(join(bench.built.directory, 'dist/src/queue/cluster.js')).href,
      },
    };
    const subjects = { on: await fleet(bench, {}), off: await fleet(bench, off) };
    for (const warmUp of Object.values(subjects)) await warmUp(warmUpSeconds);
    const turns = bench.rounds * bench.seconds;
    const measured = await interleave(turns, {
      on: () => subjects.on(turnSeconds),
      off: () => subjects.off(turnSeconds),
    });
    return [ratioRow('submits/s, on', mean(measured.on), 'off', mean(measured.off), { least: 0.95 })];
  },
};

async function fleet(bench, options) {
  const databaseUrl = await bench.serviceDatabase();
  const services = [];
  for (let i = 0; i < processes; i++) services.push(await bench.service({ databaseUrl, ...options }));
  const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
  return async (seconds) => {
    const loads = services.map((service) =>
      bench.load(service, script, { connections: connectionsEach, seconds }),
    );
    return (await Promise.all(loads)).reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { plainRow, ratioRow } from '../support/rows.js';
import { mean, standardError } from '../support/stats.js';
import { postScript } from '../support/wrk.js';

const processes = 4;
const connectionsEach = 16;
const warmUpSeconds = 3;
/**
 * What is asked for is a difference of a few per cent, and a shared machine is half or twice as fast a second later:
 * turns as short as they can be, and all of what was answered in them.
 */
const turnSeconds = 1;
/** What the last submissions of a turn have to tell is told before the next one begins. */
const untoldMs = 500;
const silencer = new URL('../support/no-notifications.js', import.meta.url).href;

export const scene = {
  number: 11,
  name: 'notifications',
  title: `submit over ${processes} processes, notifications on and off`,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const silenced = {
      nodeArgs: ['--import', silencer],
      env: {
        BENCH_CLUSTER_MODULE: pathToFileURL(join(bench.built.directory, 'dist/src/queue/cluster.js')).href,
      },
    };
    const subjects = { on: await fleet(bench, {}), off: await fleet(bench, silenced) };
    for (const warmUp of Object.values(subjects)) await warmUp(warmUpSeconds);
    const turnOf = async (subject) => {
      const perSecond = await subject(turnSeconds);
      await delay(untoldMs);
      return perSecond;
    };
    const { on, off } = await interleave(bench.rounds * bench.seconds, {
      on: () => turnOf(subjects.on),
      off: () => turnOf(subjects.off),
    });
    return [
      ratioRow('submits/s, on', mean(on), 'off', mean(off), { least: 0.95 }),
      plainRow('standard error of the ratio', standardError(on.map((value, turn) => value / off[turn]))),
    ];
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

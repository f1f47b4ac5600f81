import { cpus } from 'node:os';
import { keyHeader } from '../support/built-service.js';
import { machineBusyMs } from '../support/cpu.js';
import { drainService } from '../support/drains.js';
import { smallInput } from '../support/inputs.js';
import { interleave, medianOf } from '../support/rounds.js';
import { plainRow, shown, turnsRow } from '../support/rows.js';
import { postScript } from '../support/wrk.js';

const connections = 32;

export const scene = {
  number: 16,
  name: 'two-processes',
  title: 'two processes against one',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const subjects = { one: await submitsOver(bench, 1), two: await submitsOver(bench, 2) };
    for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
    const submits = await interleave(bench.rounds, subjects);
    await bench.endScene();
    const count = bench.short ? 5_000 : 30_000;
    const jobs = await interleave(bench.rounds, {
      one: () => drainService(bench, count),
      two: () => drainService(bench, count, { processes: 2 }),
    });
    return [
      shown(turnsRow('submits/s, two', submits.two, 'one', submits.one)),
      shown(turnsRow('jobs/s, two', jobs.two, 'one', jobs.one)),
      plainRow('share of the cores in use, one', medianOf(submits.one, 'busy')),
      plainRow('share of the cores in use, two', medianOf(submits.two, 'busy')),
    ];
  },
};

/** Measures the same connections over several processes, and how busy the machine was. */
async function submitsOver(bench, processes) {
  const databaseUrl = await bench.serviceDatabase();
  const services = [];
  for (let i = 0; i < processes; i++) services.push(await bench.service({ databaseUrl }));
  const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
  return async (seconds) => {
    const started = performance.now();
    const busyBefore = machineBusyMs();
    const loads = services.map((service) =>
      bench.load(service, script, { connections: connections / processes, seconds }),
    );
    const perSecond = (await Promise.all(loads)).reduce((sum, load) => sum + load.perSecond, 0);
    const elapsedMs = performance.now() - started;
    return { perSecond, busy: (machineBusyMs() - busyBefore) / elapsedMs / cpus().length };
  };
}

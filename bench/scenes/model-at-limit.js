import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { preloadWaiting } from '../support/preload.js';
import { interleave } from '../support/rounds.js';
import { turnsRow } from '../support/rows.js';
import { until } from '../support/until.js';
import { postScript } from '../support/wrk.js';

const connections = 32;
const drained = ['queue_entry', 'lease']
  .map((table) => `NOT EXISTS (SELECT FROM ${table} WHERE model_id = 'bench/noop')`)
  .join(' AND ');

export const scene = {
  number: 5,
  name: 'model-at-limit',
  title: 'other models while a million wait for one',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const deep = bench.short ? 100_000 : 1_000_000;
    const subjects = { with: await jobsBeside(bench, deep), without: await jobsBeside(bench, 1) };
    for (const warmUp of Object.values(subjects)) await warmUp();
    const measured = await interleave(bench.rounds, subjects);
    return [
      turnsRow(`jobs/s beside ${deep.toLocaleString('en')}`, measured.with, 'beside one', measured.without, {
        bar: { least: 0.9 },
      }),
    ];
  },
};

/** Submits to another model for a while, and waits until the last of these requests has completed. */
async function jobsBeside(bench, waiting) {
  const databaseUrl = await bench.serviceDatabase();
  // One more, because one runs.
  await preloadWaiting(databaseUrl, 'bench/held', waiting + 1, smallInput);
  const service = await bench.service({ databaseUrl });
  const script = postScript('/v1/queue/bench/noop', smallInput, keyHeader);
  return async () => {
    const started = performance.now();
    const { answers } = await bench.load(service, script, { connections });
    await until(databaseUrl, drained, 20);
    return { perSecond: (answers * 1_000) / (performance.now() - started) };
  };
}

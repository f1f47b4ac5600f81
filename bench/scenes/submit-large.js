import { largeInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';
import { submitSubjects } from '../support/submit-subjects.js';

export const scene = {
  number: 2,
  name: 'submit-large',
  title: 'submit with 64 KiB of input',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const { bare, service } = await submitSubjects(bench, { input: largeInput, connections: 32 });
    const measured = await interleave(bench.rounds, { bare, service });
    return [
      turnsRow('submits/s', measured.service, 'bare', measured.bare, { bar: { least: 0.9 } }),
      turnsRow('p99 ms', measured.service, 'bare', measured.bare, { field: 'p99' }),
      ...cpuRows('submit', measured.service, measured.bare, 'bare'),
    ];
  },
};

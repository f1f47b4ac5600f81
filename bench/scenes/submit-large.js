import { largeInput } from '../support/inputs.js';
import { interleave, medianOf } from '../support/rounds.js';
import { cpuRows, ratioRow } from '../support/rows.js';
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
      ratioRow(
        'submits/s',
        medianOf(measured.service, 'perSecond'),
        'bare insert',
        medianOf(measured.bare, 'perSecond'),
        { least: 0.9 },
      ),
      ...cpuRows('submit', measured.service, measured.bare, 'bare insert'),
    ];
  },
};

import { smallInput } from '../support/inputs.js';
import { interleave, medianOf } from '../support/rounds.js';
import { cpuRows, missingRow, ratioRow } from '../support/rows.js';
import { submitSubjects } from '../support/submit-subjects.js';

export const scene = {
  number: 1,
  name: 'submit',
  title: 'submit, 32 connections, small input',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const subjects = await submitSubjects(bench, { input: smallInput, connections: 32 });
    const measured = await interleave(bench.rounds, subjects);
    const service = medianOf(measured.service, 'perSecond');
    return [
      ratioRow('submits/s', service, 'bare insert', medianOf(measured.bare, 'perSecond'), { least: 1.5 }),
      measured.bullmq === undefined
        ? missingRow('submits/s against BullMQ', 'redis-server is not installed')
        : ratioRow('submits/s', service, 'BullMQ', medianOf(measured.bullmq, 'perSecond'), { least: 1.1 }),
      ratioRow('p99 ms', medianOf(measured.service, 'p99'), 'bare insert', medianOf(measured.bare, 'p99'), {
        most: 1,
        tail: true,
      }),
      ...cpuRows('submit', measured.service, measured.bare, 'bare insert'),
      ratioRow('p50 ms', medianOf(measured.service, 'p50'), 'bare insert', medianOf(measured.bare, 'p50')),
    ];
  },
};

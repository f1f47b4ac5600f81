import { smallInput } from '../support/inputs.js';
import { interleave, medianOf } from '../support/rounds.js';
import { cpuRows, missingRow, plainRow, ratioRow } from '../support/rows.js';
import { median, standardError } from '../support/stats.js';
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
      ...againstBullMq(measured),
      ratioRow('p99 ms', medianOf(measured.service, 'p99'), 'bare insert', medianOf(measured.bare, 'p99'), {
        most: 1,
        tail: true,
      }),
      ...cpuRows('submit', measured.service, measured.bare, 'bare insert'),
      ratioRow('p50 ms', medianOf(measured.service, 'p50'), 'bare insert', medianOf(measured.bare, 'p50')),
    ];
  },
};

function againstBullMq({ service, bullmq }) {
  if (bullmq === undefined) return [missingRow('submits/s against BullMQ', 'redis-server is not installed')];
  const [ours, theirs] = [service, bullmq].map((turns) => turns.map(({ perSecond }) => perSecond));
  return [
    ratioRow('submits/s', median(ours), 'BullMQ', median(theirs), { least: 1.1 }),
    plainRow('standard error of that ratio', standardError(ours.map((value, turn) => value / theirs[turn]))),
  ];
}

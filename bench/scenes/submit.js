import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, missingRow, shown, turnsRow } from '../support/rows.js';
import { submitSubjects } from '../support/submit-subjects.js';

export const scene = {
  number: 1,
  name: 'submit',
  title: 'submit, 32 connections',
  short: true,
  /** In short turns the tail latency would be that of their beginning. */
  turnSeconds: 10,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const subjects = await submitSubjects(bench, { input: smallInput, connections: 32 });
    const { service, bare, bullmq, bullmqPostgres } = await interleave(bench.rounds, subjects);
    return [
      turnsRow('submits/s', service, 'bare', bare, { bar: { least: 1.5 } }),
      bullmq === undefined
        ? missingRow('submits/s against BullMQ', 'redis-server is not installed')
        : turnsRow('submits/s', service, 'BullMQ', bullmq, { bar: { least: 1.1 } }),
      shown(turnsRow('submits/s', service, 'BullMQ on PostgreSQL', bullmqPostgres)),
      turnsRow('p99 ms', service, 'bare', bare, { field: 'p99', bar: { most: 1, tail: true } }),
      ...cpuRows('submit', service, bare, 'bare'),
      turnsRow('p50 ms', service, 'bare', bare, { field: 'p50' }),
    ];
  },
};

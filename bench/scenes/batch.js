import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { turnsRow } from '../support/rows.js';

const size = 1_000;
/** Parallel calls of a caller that sends one submission per call. */
const connections = 32;

export const scene = {
  number: 24,
  name: 'batch',
  title: 'a batch of 1,000, and as many calls',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const service = await bench.service({ databaseUrl: await bench.serviceDatabase() });
    const headers = { ...keyHeader, 'content-type': 'application/json' };
    const post = async (path, body, status) => {
      const answer = await fetch(`${service.url}/v1/queue/${path}`, { method: 'POST', headers, body });
      if (answer.status !== status) throw new Error(`${path} was answered ${answer.status}`);
      return answer.json();
    };
    const entry = `{"model_id":"bench/held","input":${smallInput}}`;
    const batch = `{"requests":[${Array(size).fill(entry).join()}]}`;
    const subjects = {
      batch: async () => {
        const { results } = await post('requests', batch, 200);
        if (results.some(({ status }) => status !== 202)) throw new Error('some were refused');
      },
      calls: async () => {
        let left = size;
        const caller = async () => {
          while (left-- > 0) await post('bench/held', smallInput, 202);
        };
        await Promise.all(Array.from({ length: connections }, caller));
      },
    };
    const timed = (work) => async () => {
      const from = performance.now();
      await work();
      return { perSecond: (size * 1_000) / (performance.now() - from) };
    };
    for (const warmUp of Object.values(subjects)) await warmUp();
    const measured = await interleave(bench.rounds * 2, {
      batch: timed(subjects.batch),
      calls: timed(subjects.calls),
    });
    return [
      turnsRow('submits/s in a batch', measured.batch, 'one by one', measured.calls, { bar: { least: 5 } }),
    ];
  },
};

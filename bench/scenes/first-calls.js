import { callersScript, insertKeys } from '../support/callers.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';

const connections = 32;
const callers = 10_000;
/**
 * More callers than count. The load ends with the last answer that counts, and until then every connection has a call
 * under way.
 */
const extra = 1_000;
/** A turn is short, so a round has several. */
const turnsInRound = 2;

export const scene = {
  number: 19,
  name: 'first-calls',
  title: 'first calls of 10,000 new keys',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const databaseUrl = await bench.serviceDatabase();
    const service = await bench.service({ databaseUrl, limits: 'shipped', env: { TRUST_PROXY: '1' } });
    const bare = await bench.peer('bare.js', { DATABASE_URL: await bench.emptyDatabase() });
    let series = 0;
    const firstCalls = async (subject, path) => {
      const script = callersScript({
        calls: callers + extra,
        key: 'n',
        series,
        method: 'POST',
        paths: [path],
        body: smallInput,
      });
      return bench.firstAnswers(subject, script, { connections, count: callers });
    };
    const subjects = {
      bare: () => firstCalls(bare, '/submit'),
      service: async () => {
        await insertKeys(databaseUrl, callers + extra, ++series);
        return firstCalls(service, '/v1/queue/bench/held');
      },
    };
    await interleave(1, subjects);
    const measured = await interleave(bench.rounds * turnsInRound, subjects);
    return [
      turnsRow('submits/s', measured.service, 'bare', measured.bare, { bar: { least: 0.7 } }),
      ...cpuRows('submit', measured.service, measured.bare, 'bare'),
    ];
  },
};

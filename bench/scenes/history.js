import { keyHeader } from '../support/built-service.js';
import { preloadHistory } from '../support/history.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { interleave, medianOf } from '../support/rounds.js';
import { plainRow, ratioRow } from '../support/rows.js';
import { median } from '../support/stats.js';
import { postScript } from '../support/wrk.js';
import { claimAt, claimInTurns } from './claim.js';
import { statusAt } from './status.js';

const connections = 32;
const waiting = 100;

const page = `SELECT * FROM request_history WHERE id < $1 ORDER BY id DESC LIMIT 50`;
const documented = {
  queue_depth: 'SELECT * FROM queue_depth',
  running_now: 'SELECT * FROM running_now',
  model_stats: 'SELECT * FROM model_stats',
  'request_history page': page,
};

export const scene = {
  number: 15,
  name: 'history',
  title: 'ten million rows of history',
  long: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 1_000_000 : 10_000_000;
    const [old, fresh] = [await bench.serviceDatabase(), await bench.serviceDatabase()];
    await preloadHistory(old, count);
    const views = await viewRows(old, { most: 50 });
    const sides = { old: await claimAt(bench, waiting, old), fresh: await claimAt(bench, waiting, fresh) };
    const { hinted } = await claimInTurns(sides, 400);
    const status = await inTurns(
      bench,
      await statusAt(bench, waiting, old),
      await statusAt(bench, waiting, fresh),
    );
    const submits = await inTurns(bench, await submitsTo(bench, old), await submitsTo(bench, fresh));
    const bar = { most: 1.3 };
    return [
      ratioRow('submits/s without history', submits.fresh, 'with', submits.old, bar),
      ratioRow('status/s without history', status.fresh, 'with', status.old, bar),
      ratioRow('claim median ms with history', median(hinted.old), 'without', median(hinted.fresh), bar),
      ...views,
      ...(await viewRows(old)).map((row) => ({ ...row, figure: `${row.figure}, after the scene's load` })),
    ];
  },
};

async function inTurns(bench, old, fresh) {
  for (const warmUp of [old, fresh]) await warmUp(bench.warmUpSeconds);
  const measured = await interleave(bench.rounds, { old, fresh });
  return { old: medianOf(measured.old, 'perSecond'), fresh: medianOf(measured.fresh, 'perSecond') };
}

async function submitsTo(bench, databaseUrl) {
  const service = await bench.service({ databaseUrl });
  const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
  return (seconds) => bench.load(service, script, { connections, seconds });
}

async function viewRows(databaseUrl, bar) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(`SELECT uuid_at(now() - interval '3 days') AS id`);
    const result = [];
    for (const [name, text] of Object.entries(documented)) {
      const values = text === page ? [rows[0].id] : [];
      const times = [];
      for (let i = 0; i < 11; i++) {
        const started = performance.now();
        await client.query(text, values);
        times.push(performance.now() - started);
      }
      result.push(plainRow(`ms, ${name}`, median(times), bar));
    }
    return result;
  });
}

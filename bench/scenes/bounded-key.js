import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { preloadWaiting } from '../support/preload.js';
import { plainRow, ratioRow } from '../support/rows.js';
import { claimOf, finishOf } from '../support/service-statements.js';
import { median } from '../support/stats.js';
import { claimAt, claimInTurns, claimOffences, offencesOf, planRow } from './claim.js';

const modelId = 'bench/noop';
/** In order of arrival, independent of the key, so released requests are before the others. */
const order = 'arrival';
const bound = 10;
const warmUps = 10;

/** All waiting requests of one key become held, because the key is at its bound. */
const holdAll = `
WITH key AS (
  UPDATE api_key SET max_running = ${bound} RETURNING id
), waiting AS (
  DELETE FROM queue_entry RETURNING *
)
INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, bounded_key_id, ready_at)
SELECT model_id, priority, virtual_start, seq, request_id, key.id, key.id, 'infinity'
FROM waiting, key`;

export const scene = {
  number: 27,
  name: 'bounded-key',
  title: 'a key at its bound',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const many = bench.short ? 100_000 : 1_000_000;
    const shown = many.toLocaleString('en');
    const turns = bench.short ? 30 : 200;
    const few = 2 * bound * (turns + warmUps);
    const sides = { few: await heldAt(bench, few), many: await heldAt(bench, many) };
    const { hinted, floorless } = await claimInTurns(sides, turns);
    const releases = { few: [], many: [] };
    for (let turn = -warmUps; turn < turns; turn++) {
      for (const name of turn % 2 === 0 ? ['few', 'many'] : ['many', 'few']) {
        const ms = await timedRelease(sides[name]);
        if (turn >= 0) releases[name].push(ms);
      }
    }
    const against = `at ${few.toLocaleString('en')}`;
    const ratio = (figure, { many: above, few: below }) =>
      ratioRow(figure, median(above), against, median(below), { most: 1.3 });
    return [
      ratio(`claim ms of others, ${shown} held`, hinted),
      ratio('the same without a floor', floorless),
      ratio(`release ms of ${bound}, ${shown} held`, releases),
      plainRow('release ms, median', median(releases.many)),
      planRow('claim: no sort, no sequential scan', await claimOffences(sides.many.statements)),
      planRow('release: no sequential scan', await releaseOffences(sides.many)),
    ];
  },
};

/** A queue with `count` held requests of one key, and a hundred of others behind them. */
async function heldAt(bench, count) {
  const url = await bench.serviceDatabase();
  await preloadWaiting(url, modelId, count, smallInput, { order });
  await withClient(url, async (client) => {
    await client.query(holdAll);
    await client.query('VACUUM (ANALYZE) queue_entry, delayed_entry');
  });
  return claimAt(bench, 100, { databaseUrl: url, order });
}

/** Measures a release of as many requests as the bound, which then run and end. */
async function timedRelease({ statements, keyId }) {
  const started = performance.now();
  const released = await statements.release(statements.database, { keyId, modelId });
  const ms = performance.now() - started;
  if (released.length !== bound) throw new Error(`a release of ${bound} let in ${released.length}`);
  await finishOf(statements, await claimOf(statements, { modelId, limit: bound, floor: null }));
  return ms;
}

/**
 * A release sorts only the key's waiting requests, at most its bound, and the ones that it lets in, so only scans
 * count.
 */
async function releaseOffences({ statements, keyId }) {
  const found = await offencesOf(statements, (database) => statements.release(database, { keyId, modelId }));
  return found.filter((one) => one.startsWith('Seq Scan'));
}

import { v7 } from 'uuid';
import { smallInput } from '../support/inputs.js';
import { preloadWaiting, turnTicks } from '../support/preload.js';
import { promiseRow, ratioRow } from '../support/rows.js';
import { claimOf, finishOf, serviceStatements } from '../support/service-statements.js';
import { median } from '../support/stats.js';

const modelId = 'bench/noop';
const limit = 10;
const warmUps = 50;

export const scene = {
  number: 4,
  name: 'claim',
  title: 'claim of 10 at depth',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const deep = bench.short ? 100_000 : 1_000_000;
    const depth = deep.toLocaleString('en');
    const keys = deep / 100;
    const sides = {
      shallow: await claimAt(bench, 100),
      deep: await claimAt(bench, deep),
      shared: await claimAt(bench, deep, { keys }),
    };
    const { hinted, floorless } = await claimInTurns(sides, bench.short ? 100 : 400);
    const real = await claimOffences(sides.shared.statements);
    const stale = await claimOffences(sides.shared.statements, pretendEmpty);
    const shared = `of ${keys.toLocaleString('en')} keys`;
    return [
      ratioRow(`median ms at ${depth} waiting`, median(hinted.deep), 'at 100', median(hinted.shallow), {
        most: 1.3,
      }),
      ratioRow('the same without a floor', median(floorless.deep), 'at 100', median(floorless.shallow), {
        most: 1.3,
      }),
      ratioRow(`median ms at ${depth} ${shared}`, median(hinted.shared), 'at 100', median(hinted.shallow), {
        most: 1.3,
      }),
      ratioRow(`without a floor, ${shared}`, median(floorless.shared), 'at 100', median(floorless.shallow), {
        most: 1.3,
      }),
      planRow('no sort, no sequential scan', real),
      planRow('the same when the tables seem empty', stale),
    ];
  },
};

/**
 * A queue of `depth` requests that is as deep again after every claim.
 * @param {import('../support/bench.js').Bench} bench
 * @param {number} depth
 * @param {{ databaseUrl?: string } & import('../support/preload.js').Senders} [options]
 */
export async function claimAt(bench, depth, { databaseUrl, ...senders } = {}) {
  const url = databaseUrl ?? (await bench.serviceDatabase());
  await preloadWaiting(url, modelId, depth, smallInput, senders);
  const statements = await serviceStatements(bench, url);
  const [{ id: keyId }] = await statements.dataSource.query('SELECT id FROM api_key LIMIT 1');
  const { keys = 1, order } = senders;
  return { statements, keyId, next: null, end: order === 'arrival' ? 0 : (depth / keys) * turnTicks };
}

/** Claims on each side in turns, alternately with the floor that a scheduler has and without one. */
export async function claimInTurns(sides, count) {
  const hinted = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  const floorless = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  const kinds = Object.keys(sides).flatMap((name) => [
    { name, times: hinted[name], hint: true },
    { name, times: floorless[name], hint: false },
  ]);
  for (let turn = -warmUps; turn < count; turn++) {
    // Alternately forwards and backwards, so that no side always follows the same neighbour.
    for (const { name, times, hint } of turn % 2 === 0 ? kinds : [...kinds].reverse()) {
      const ms = await timedClaim(sides[name], hint ? sides[name].next : null);
      if (turn >= 0) times.push(ms);
    }
  }
  return { hinted, floorless };
}

async function timedClaim(side, floor) {
  const { statements, keyId } = side;
  const started = performance.now();
  const claimed = await claimOf(statements, { modelId, limit, floor });
  const ms = performance.now() - started;
  if (claimed.length !== limit) throw new Error(`a claim of ${limit} got ${claimed.length}`);
  const last = claimed[claimed.length - 1];
  side.next = { priority: last.priority, start: last.start, seq: last.seq + 1 };
  await finishOf(statements, claimed);
  await statements.submit(
    statements.database,
    claimed.map(({ input }) => ({
      id: v7(),
      modelId,
      keyId,
      priority: 0,
      virtualStart: side.end,
      input: Buffer.from(input),
      expiresMs: null,
    })),
  );
  return ms;
}

/** Returns the parts of a claim's plan that no claim may have. */
export async function claimOffences(statements, prepare) {
  await prepare?.(statements.dataSource);
  return offencesOf(statements, (database) =>
    claimOf({ ...statements, database }, { modelId, limit, floor: null }),
  );
}

/**
 * Returns the offences in the plan of the last statement that `send` sends. It is planned with the service's planner
 * settings, on a connection of the service's pool.
 */
export async function offencesOf({ dataSource }, send) {
  let text = '';
  const spy = {
    query: (statement) => {
      text = statement.text;
      return Promise.resolve([]);
    },
    atomically: (...statements) => spy.query(statements.at(-1)[0]),
  };
  await send(spy);
  const [row] = await dataSource.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
  return offences(row['QUERY PLAN'][0].Plan);
}

export function planRow(figure, found) {
  return promiseRow(figure, found.length === 0, found.join(', '));
}

/** Makes the statistics those of a table that was analysed while it was empty. */
async function pretendEmpty(dataSource) {
  await dataSource.query(
    `UPDATE pg_class SET relpages = 0, reltuples = 0, relallvisible = 0
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'i')`,
  );
  await dataSource.query(
    `DELETE FROM pg_statistic
     WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
  );
}

function offences(plan) {
  const own = /Sort|Seq Scan/.test(plan['Node Type'])
    ? [`${plan['Node Type']} ${plan['Relation Name'] ?? ''}`]
    : [];
  return [...own, ...(plan.Plans ?? []).flatMap(offences)];
}

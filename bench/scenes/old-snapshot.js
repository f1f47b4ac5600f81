import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { smallInput } from '../support/inputs.js';
import { preloadWaiting } from '../support/preload.js';
import { plainRow, ratioRow, shown } from '../support/rows.js';
import { claimOf, finishOf, serviceStatements } from '../support/service-statements.js';
import { median } from '../support/stats.js';
import { withClient } from '../support/postgres.js';

const modelId = 'bench/noop';
const limit = 10;
/** Like the scheduler, which claims from the very front once a second. */
const floorlessEveryMs = 1_000;
const recoveryPatienceSeconds = 60;
const recovered = 1.3;
const peerSeconds = 120;
const warmUps = 10;

export const scene = {
  number: 9,
  name: 'old-snapshot',
  title: 'a transaction open while 200,000 pass',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 20_000 : 200_000;
    const own = await serviceUnderSnapshot(bench, count);
    const boss = await peerUnderSnapshot(bench, 'pg-boss-claims.js', count);
    const graphile = await peerUnderSnapshot(bench, 'graphile-worker-claims.js', count);
    const row = (name, { first, last, passed }, bar) => ({
      ...ratioRow(`claim ms, last tenth, ${name}`, last, 'first tenth', first, bar),
      note: `${passed.toLocaleString('en')} passed`,
    });
    const front = (when, ms) =>
      ratioRow(`claim ms from the very front, ${when}`, ms, 'before it', own.front.before);
    return [
      row('service', own, { most: 1.3 }),
      plainRow('s until the front has recovered', own.recoveredAfter, {
        most: recoveryPatienceSeconds,
      }),
      shown(front('at its end', own.front.justAfter)),
      front('when last tried', own.front.last),
      shown(row('pg-boss', boss)),
      shown(row('graphile-worker', graphile)),
    ];
  },
};

async function serviceUnderSnapshot(bench, count) {
  const databaseUrl = await bench.serviceDatabase();
  await preloadWaiting(databaseUrl, modelId, count + recoveryPatienceSeconds * 500, smallInput);
  const statements = await serviceStatements(bench, databaseUrl);
  const claimer = { statements, floor: null, floorlessAt: -Infinity };
  for (let i = 0; i < warmUps; i++) await claimsFromTheFront(claimer);
  const fresh = await claimsFromTheFront(claimer);
  const release = await holdSnapshot(bench, databaseUrl);
  const times = [];
  for (let passed = 0; passed < count; passed += limit) times.push(await claimAsScheduler(claimer));
  await release();
  const released = performance.now();
  const front = { before: fresh, justAfter: await claimsFromTheFront(claimer), last: NaN };
  let recoveredAfter = Infinity;
  while (recoveredAfter === Infinity && performance.now() - released < recoveryPatienceSeconds * 1_000) {
    await delay(500);
    front.last = await claimsFromTheFront(claimer);
    if (front.last <= front.before * recovered) recoveredAfter = (performance.now() - released) / 1_000;
  }
  return { ...tenths(times), passed: count, recoveredAfter, front };
}

async function claimAsScheduler(claimer) {
  const now = performance.now();
  const trusted = now - claimer.floorlessAt <= floorlessEveryMs;
  if (!trusted) claimer.floorlessAt = now;
  return timedClaim(claimer, trusted ? claimer.floor : null);
}

async function claimsFromTheFront(claimer) {
  const times = [];
  for (let i = 0; i < 20; i++) times.push(await timedClaim(claimer, null));
  return median(times);
}

async function timedClaim(claimer, floor) {
  const started = performance.now();
  const claimed = await claimOf(claimer.statements, { modelId, limit, floor });
  const ms = performance.now() - started;
  if (claimed.length !== limit) throw new Error(`a claim of ${limit} got ${claimed.length}`);
  await finishOf(claimer.statements, claimed);
  const last = claimed[claimed.length - 1];
  claimer.floor = { priority: last.priority, start: last.start, seq: last.seq + 1 };
  return ms;
}

/** The peer measures its own claims, and stops early when it has become too slow. */
async function peerUnderSnapshot(bench, program, count) {
  const databaseUrl = await bench.emptyDatabase();
  const drain = program.replace('-claims', '-drain');
  const filler = await bench.peer(drain, {
    DATABASE_URL: databaseUrl,
    FILL: String(count),
    INPUT: smallInput,
  });
  await filler.stop();
  await withClient(databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
  const release = await holdSnapshot(bench, databaseUrl);
  const peer = await bench.peer(program, {
    DATABASE_URL: databaseUrl,
    LIMIT: String(limit),
    COUNT: String(count),
    SECONDS: String(peerSeconds),
  });
  const { times } = await peer.firstMessage;
  await release();
  await peer.stop();
  return { ...tenths(times), passed: times.length * limit };
}

async function holdSnapshot(bench, databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT 1');
  let open = true;
  const release = async () => {
    if (open) await client.end();
    open = false;
  };
  bench.atEndOfScene(release);
  return release;
}

function tenths(times) {
  const tenth = Math.floor(times.length / 10);
  return { first: median(times.slice(0, tenth)), last: median(times.slice(-tenth)) };
}

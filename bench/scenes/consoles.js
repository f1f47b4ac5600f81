import { setTimeout as delay } from 'node:timers/promises';
import { keyHeader } from '../support/built-service.js';
import { insertKeys } from '../support/callers.js';
import { preloadHistory } from '../support/history.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { interleave } from '../support/rounds.js';
import { plainRow, ratioRow, turnsRow } from '../support/rows.js';
import { median } from '../support/stats.js';
import { postScript } from '../support/wrk.js';

const connections = 32;
const consoles = 10;
/** Accepts an answer that another console got a moment ago. */
const recent = { ...keyHeader, 'cache-control': 'max-age=2' };
const looks = 21;
const listEveryMs = 5_000;
const countedMs = 30_000;
/** The time after which PostgreSQL has counted the commits of an idle connection. */
const settleMs = 11_000;

/** Requests of many keys, with tags, one in a hundred of them failed, so that filters have something to find. */
const variety = `
WITH many AS MATERIALIZED (
  SELECT array_agg(id) AS ids FROM api_key
), varied AS (
  UPDATE request
  SET api_key_id = many.ids[1 + seq % cardinality(many.ids)], tags = ARRAY['batch:' || seq % 1000],
      outcome = CASE WHEN seq % 100 = 0 THEN 'failed' ELSE outcome END,
      output = CASE WHEN seq % 100 <> 0 THEN output END,
      error = CASE WHEN seq % 100 = 0 THEN '{"code":"model_failed","message":"out of memory"}'::json END
  FROM many
  RETURNING id, outcome
)
UPDATE attempt
SET outcome = 'failed', error_code = 'model_failed'
FROM varied
WHERE attempt.request_id = varied.id AND varied.outcome = 'failed'`;

export const scene = {
  number: 34,
  name: 'consoles',
  title: 'console, a million rows',
  turnSeconds: 15,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const databaseUrl = await bench.serviceDatabase();
    await withClient(databaseUrl, (client) =>
      client.query(
        `UPDATE api_key SET scopes = ARRAY['submit', 'read', 'cancel', 'observe', 'payloads', 'admin']`,
      ),
    );
    await insertKeys(databaseUrl, 1_000);
    await preloadHistory(databaseUrl, bench.short ? 100_000 : 1_000_000);
    await withClient(databaseUrl, async (client) => {
      await client.query(variety);
      await client.query('VACUUM (ANALYZE) request, attempt, request_event');
    });
    const service = await bench.service({ databaseUrl, env: { METRICS_ACCESS: 'open' } });
    const lists = await listRows(service, databaseUrl);
    const commits = (count) => whileOpen(service, count, () => commitsPerSecond(databaseUrl));
    await delay(settleMs);
    const [one, ten] = [await commits(1), await commits(consoles)];
    const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
    const load = () => bench.load(service, script, { connections });
    const watched = () => whileOpen(service, consoles, load, { scrapes: true });
    await load();
    const measured = await interleave(bench.rounds, { watched, alone: load });
    const against = 'without consoles';
    return [
      ...lists,
      ratioRow(`commits/s, ${consoles} consoles`, ten, 'one console', one, { most: 1.5 }),
      turnsRow(`submits/s, ${consoles} consoles and scraped`, measured.watched, against, measured.alone, {
        bar: { least: 0.9 },
      }),
      turnsRow(`p99 ms, ${consoles} consoles and scraped`, measured.watched, against, measured.alone, {
        field: 'p99',
        bar: { most: 1.2, tail: true },
      }),
    ];
  },
};

/** Rows for every list of the console, and for its reads of one request. */
async function listRows(service, databaseUrl) {
  const { failed, key } = await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT id AS failed, api_key_id AS key FROM request WHERE outcome = 'failed' ORDER BY id LIMIT 1`,
    );
    return rows[0];
  });
  const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString();
  const lists = {
    requests: '/v1/admin/requests?limit=100',
    'requests that failed': '/v1/admin/requests?outcome=failed&limit=100',
    'requests by code': '/v1/admin/requests?code=model_failed&limit=100',
    'requests by a code that none has': '/v1/admin/requests?code=model_timeout&limit=100',
    'requests of a key': `/v1/admin/requests?key_id=${key}&limit=100`,
    'requests with a tag': '/v1/admin/requests?tag=batch:501&limit=100',
    'requests with a tag that none has': '/v1/admin/requests?tag=batch:none&limit=100',
    'requests that wait': '/v1/admin/requests?status=IN_QUEUE&limit=100',
    'requests that run': '/v1/admin/requests?status=IN_PROGRESS&limit=100',
    'requests of a day': `/v1/admin/requests?created_after=${day(9)}&created_before=${day(8)}&limit=100`,
    'requests by an id': `/v1/admin/requests?id_prefix=${failed.slice(0, 13)}&limit=100`,
    'requests of a node': '/v1/admin/requests?node=none&limit=100',
    'one request': `/v1/admin/requests/${failed}`,
    'its history': `/v1/admin/requests/${failed}/events`,
    'its log': `/v1/admin/requests/${failed}/log`,
    'its deliveries': `/v1/admin/requests/${failed}/deliveries`,
    models: '/v1/admin/models',
    queue: '/v1/admin/queue?model=bench/held&limit=100',
    shares: '/v1/admin/shares?model=bench/held',
    nodes: '/v1/admin/nodes',
    workers: '/v1/admin/workers?limit=100',
    keys: '/v1/admin/keys?limit=100',
    webhooks: '/v1/admin/webhooks?limit=100',
    deliveries: '/v1/admin/deliveries?limit=50',
    sessions: '/v1/admin/sessions?limit=100',
    audit: '/v1/admin/audit?limit=50',
    operations: '/v1/admin/operations',
  };
  const rows = [];
  for (const [name, path] of Object.entries(lists)) {
    const times = [];
    for (let i = 0; i < looks; i++) times.push(await msOf(service, path));
    rows.push(plainRow(`ms, ${name}`, median(times)));
  }
  const slowest = rows.reduce((most, row) => (row.value > most.value ? row : most));
  return [plainRow('ms, the slowest of all lists', slowest.value, { most: 50 }), ...rows];
}

async function msOf({ url }, path) {
  const started = performance.now();
  const answer = await fetch(`${url}${path}`, { headers: keyHeader });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${text}`);
  return performance.now() - started;
}

async function commitsPerSecond(databaseUrl) {
  const commits = () =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query(
        'SELECT xact_commit::float8 AS commits FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0].commits;
    });
  const [from, started] = [await commits(), performance.now()];
  await delay(countedMs);
  return (((await commits()) - from) / (performance.now() - started)) * 1_000;
}

/**
 * Runs `work` while `count` consoles are open on the list of requests. Each has its stream and reads the newest
 * requests again and again.
 */
async function whileOpen(service, count, work, { scrapes = false } = {}) {
  const closed = new AbortController();
  const failures = [];
  const note = (error) => closed.signal.aborted || failures.push(error);
  const read = async (path, headers = keyHeader) => {
    const answer = await fetch(`${service.url}${path}`, { headers, signal: closed.signal });
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
    return answer;
  };
  const every = async (ms, task) => {
    for (; !closed.signal.aborted; await delay(ms, undefined, { signal: closed.signal })) await task();
  };
  const readText = async (path, headers) => (await read(path, headers)).text();
  const open = async (i) => {
    const stream = await read('/v1/admin/events');
    const watch = async () => {
      for await (const chunk of stream.body) heard[i] += chunk.length;
    };
    watch().catch(note);
    // Each at its own time, like consoles that people open.
    const list = async () => {
      await delay((i * listEveryMs) / count, undefined, { signal: closed.signal });
      await every(listEveryMs, () => readText('/v1/admin/requests?limit=20', recent));
    };
    list().catch(note);
  };
  const heard = Array.from({ length: count }, () => 0);
  for (let i = 0; i < count; i++) await open(i);
  if (scrapes) every(1_000, () => readText('/metrics')).catch(note);
  try {
    const result = await work();
    if (failures.length > 0 || heard.includes(0)) throw failures[0] ?? new Error('A console heard nothing.');
    return result;
  } finally {
    closed.abort();
  }
}

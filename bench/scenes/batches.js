import { setTimeout as delay } from 'node:timers/promises';
import { keyHeader } from '../support/built-service.js';
import { insertKeys } from '../support/callers.js';
import { secondsOf } from '../support/drains.js';
import { smallInput } from '../support/inputs.js';
import { MemoryWatch } from '../support/memory-watch.js';
import { withClient } from '../support/postgres.js';
import { interleave } from '../support/rounds.js';
import { plainRow, shown, turnsRow } from '../support/rows.js';
import { submitMany, submitOne } from '../support/submit-many.js';
import { until } from '../support/until.js';

/** 4 KB, so that 50,000 lines are 200 MB. */
const lineInput = JSON.stringify({ prompt: 'harbour '.repeat(490) });
const connections = 32;
const runMs = 1_000;

export const scene = {
  number: 39,
  name: 'batches',
  title: 'batches beside single submissions',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const { batch, single } = await throughput(bench, bench.short ? 2_000 : 20_000);
    const mostMiB = Math.max(...batch.map(({ grownMiB }) => grownMiB));
    const rows = [
      turnsRow('requests/s, by a batch', batch, 'single submissions', single, { bar: { least: 0.9 } }),
      plainRow('MiB that the process grows by a batch', mostMiB, { most: 64 }),
    ];
    for (const perSecond of [15, 1]) {
      const waits = await neighbourWaits(bench, perSecond);
      rows.push(
        shown(plainRow(`p99 ms of the wait at ${perSecond}/s beside a batch`, waits.beside)),
        plainRow(`ms above 1.2 × of that without a batch`, waits.beside - 1.2 * waits.without, {
          most: runMs,
          tail: true,
        }),
      );
    }
    return rows;
  },
};

/**
 * The time from the creation to the last end, of lines of a batch and of the same requests by `POST /v1/queue/<model>`.
 * The batch ends when its files are written.
 * @param {import('../support/bench.js').Bench} bench
 * @param {number} count
 */
async function throughput(bench, count) {
  const databaseUrl = await bench.serviceDatabase();
  const service = await bench.service({ databaseUrl });
  const single = async () => {
    const url = `${service.url}/v1/queue/bench/http`;
    const since = await nowOf(databaseUrl);
    await submitMany({ url, headers: keyHeader, body: lineInput, count, connections });
    await untilQueueIsEmpty(databaseUrl);
    const query = `SELECT extract(epoch FROM max(completed_at) - min(created_at)) AS seconds, count(*) AS done
      FROM request WHERE outcome = 'succeeded' AND created_at > '${since}'`;
    return { perSecond: count / (await secondsOf(databaseUrl, query, count)) };
  };
  const batch = async () => {
    const memory = new MemoryWatch(service.pid);
    const id = await sendBatch(service, 'bench/http', lineInput, count);
    await until(databaseUrl, `(SELECT ended_at IS NOT NULL FROM batch WHERE id = '${id}')`);
    memory.stop();
    const query = `SELECT extract(epoch FROM ended_at - created_at) AS seconds, completed AS done
      FROM batch WHERE id = '${id}'`;
    const seconds = await secondsOf(databaseUrl, query, count);
    return { perSecond: count / seconds, grownMiB: memory.mostMiB };
  };
  // The first turns grow the heap and the pools of connections, which later ones use again.
  await single();
  await batch();
  const turns = await interleave(bench.rounds, { batch, single });
  await service.stop();
  return turns;
}

/**
 * The p99 of the waits of another key's requests, without and with a batch. Each run takes a second.
 * @param {import('../support/bench.js').Bench} bench
 * @param {number} perSecond
 */
async function neighbourWaits(bench, perSecond) {
  const seconds = bench.short ? 5 : 40;
  const databaseUrl = await bench.serviceDatabase();
  await insertKeys(databaseUrl, 1);
  const service = await bench.service({ databaseUrl });
  const without = await waitsOf(service, databaseUrl, perSecond, seconds);
  await sendBatch(service, 'bench/second', smallInput, bench.short ? 2_000 : 100_000);
  await until(databaseUrl, `(SELECT count(*) FROM lease) >= 50`);
  const beside = await waitsOf(service, databaseUrl, perSecond, seconds);
  await service.stop();
  return { without, beside };
}

async function waitsOf(service, databaseUrl, perSecond, seconds) {
  const url = `${service.url}/v1/queue/bench/second`;
  const headers = { Authorization: `Key bench-caller-0-${'0'.repeat(8)}` };
  const submissions = [];
  const begun = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    await delay(Math.max(0, begun + (i * 1_000) / perSecond - performance.now()));
    submissions.push(submitOne({ url, headers, body: smallInput }));
  }
  const ids = `ARRAY['${(await Promise.all(submissions)).join("','")}']::uuid[]`;
  const ofThem = `FROM request WHERE id = ANY (${ids})`;
  await until(databaseUrl, `(SELECT bool_and(outcome IS NOT NULL) ${ofThem})`);
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query(`SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - created_at))
      * 1000 AS p99 ${ofThem}`),
  );
  return Number(rows[0].p99);
}

/** Returns the id of a batch whose lines are sent as they are made. */
async function sendBatch(service, modelId, input, count) {
  async function* lines() {
    for (let i = 0; i < count; i++) yield Buffer.from(`{"custom_id":"${i}","input":${input}}\n`);
  }
  const answer = await fetch(`${service.url}/v1/batches?model_id=${modelId}`, {
    method: 'POST',
    headers: { ...keyHeader, 'Content-Type': 'application/x-ndjson' },
    body: ReadableStream.from(lines()),
    duplex: 'half',
  });
  if (answer.status !== 202)
    throw new Error(`the batch was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()).batch_id;
}

function untilQueueIsEmpty(databaseUrl) {
  return until(databaseUrl, 'NOT EXISTS (SELECT FROM queue_entry) AND NOT EXISTS (SELECT FROM lease)');
}

async function nowOf(databaseUrl) {
  const { rows } = await withClient(databaseUrl, (client) => client.query('SELECT now()::text AS now'));
  return rows[0].now;
}

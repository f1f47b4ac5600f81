import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { plainRow } from '../support/rows.js';
import { submitMany } from '../support/submit-many.js';
import { until } from '../support/until.js';

export const scene = {
  number: 13,
  name: 'wal',
  title: 'WAL a request beside its payload',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 500 : 3_000;
    const alone = await kibibytes(bench, count, 1);
    const crowd = await kibibytes(bench, count, 32);
    return [
      plainRow('KiB, one at a time', alone.all, { most: 3 }),
      plainRow('KiB, 32 connections', crowd.all, { most: 3 }),
      plainRow('of that full-page images, one at a time', alone.images),
      plainRow('of that full-page images, 32 connections', crowd.images),
    ];
  },
};

/** Measures from right after a checkpoint on, in a process and a database that have served some requests before. */
async function kibibytes(bench, count, connections) {
  const databaseUrl = await bench.serviceDatabase();
  const service = await bench.service({ databaseUrl });
  const url = `${service.url}/v1/queue/bench/noop`;
  const live = async (times) => {
    await submitMany({ url, headers: keyHeader, body: smallInput, count: times, connections });
    await until(databaseUrl, 'NOT EXISTS (SELECT FROM queue_entry) AND NOT EXISTS (SELECT FROM lease)');
  };
  await live(200);
  await withClient(databaseUrl, (client) => client.query('CHECKPOINT'));
  const before = await walOf(databaseUrl);
  await live(count);
  const after = await walOf(databaseUrl);
  await service.stop();
  // The echo's output is its input.
  const payload = 2 * Buffer.byteLength(smallInput);
  return {
    all: ((after.bytes - before.bytes) / count - payload) / 1024,
    images: ((after.images - before.images) * 8_192) / count / 1024,
  };
}

async function walOf(databaseUrl) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes, wal_fpi AS images FROM pg_stat_wal`,
    );
    return { bytes: Number(rows[0].bytes), images: Number(rows[0].images) };
  });
}

import { keyHeader } from '../support/built-service.js';
import { preloadHistory } from '../support/history.js';
import { withClient } from '../support/postgres.js';
import { plainRow } from '../support/rows.js';
import { median } from '../support/stats.js';

const keys = 10_000;
const pages = 41;

/** Gives each request of the history to one of many keys; the bench's own key keeps a single one. */
const spread = `
WITH many AS MATERIALIZED (
  SELECT array_agg(gen_random_uuid()) AS ids FROM generate_series(1, ${keys})
), own AS MATERIALIZED (
  SELECT id FROM request ORDER BY id LIMIT 1
)
UPDATE request
SET api_key_id = many.ids[1 + seq % ${keys}]
FROM many
WHERE request.id NOT IN (SELECT id FROM own)`;

export const scene = {
  number: 25,
  name: 'list',
  title: 'a page of the list, 10,000 keys',
  long: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const databaseUrl = await bench.serviceDatabase();
    await preloadHistory(databaseUrl, bench.short ? 100_000 : 10_000_000);
    await withClient(databaseUrl, async (client) => {
      await client.query(spread);
      await client.query('VACUUM (ANALYZE) request');
    });
    const service = await bench.service({ databaseUrl });
    const single = await pageMs(service, '');
    const filtered = await pageMs(service, '?tag=nothing:has');
    await withClient(databaseUrl, async (client) => {
      await client.query(
        `UPDATE request SET api_key_id = (SELECT id FROM api_key LIMIT 1)
         WHERE api_key_id = (SELECT api_key_id FROM request ORDER BY id DESC LIMIT 1)`,
      );
    });
    const many = await pageMs(service, '?limit=100');
    const bar = { most: 20 };
    return [
      plainRow('ms, a key with one request', single, bar),
      plainRow('ms, a filter that nothing meets', filtered, bar),
      plainRow('ms, 100 of a key with a thousand', many, bar),
    ];
  },
};

async function pageMs(service, query) {
  const times = [];
  for (let i = 0; i < pages; i++) {
    const from = performance.now();
    const answer = await fetch(`${service.url}/v1/queue/requests${query}`, { headers: keyHeader });
    if (answer.status !== 200) throw new Error(`the list was answered ${answer.status}`);
    await answer.text();
    times.push(performance.now() - from);
  }
  return median(times);
}

import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from './postgres.js';

const patienceMs = 300_000;

/**
 * Checks a cheap condition now and then, so that the checks are no load.
 * @param {string} databaseUrl
 * @param {string} condition SQL
 * @param {number} [everyMs]
 */
export async function until(databaseUrl, condition, everyMs = 100) {
  await withClient(databaseUrl, async (client) => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const { rows } = await client.query({ name: 'until', text: `SELECT ${condition} AS met` });
      if (rows[0].met) return;
      if (performance.now() > deadline) throw new Error(`not within ${patienceMs / 1_000} s: ${condition}`);
      await delay(everyMs);
    }
  });
}

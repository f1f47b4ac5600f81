import { keyHeader } from './built-service.js';
import { postScript } from './wrk.js';

/**
 * The service, the floor, BullMQ on PostgreSQL and (if there is a Redis) BullMQ, ready to take submissions. The service's submissions go to a
 * model at its limit, so that only submitting is measured.
 * @param {import('./bench.js').Bench} bench
 * @param {object} options
 * @param {string} options.input
 * @param {number} options.connections
 * @returns {Promise<Record<string, (seconds?: number) => Promise<import('./wrk.js').Load>>>}
 */
export async function submitSubjects(bench, { input, connections }) {
  const service = await bench.service({ databaseUrl: await bench.serviceDatabase() });
  const bare = await bench.peer('bare.js', { DATABASE_URL: await bench.emptyDatabase() });
  const bullmqPostgres = await bench.peer('bullmq.js', { DATABASE_URL: await bench.emptyDatabase() });
  const bullmq =
    bench.redis === undefined ? undefined : await bench.peer('bullmq.js', { REDIS_URL: bench.redis.url });
  const load = (subject, path, headers) => (seconds) =>
    bench.load(subject, postScript(path, input, headers), { connections, seconds });
  const subjects = {
    bare: load(bare, '/submit'),
    service: load(service, '/v1/queue/bench/held', keyHeader),
    bullmqPostgres: load(bullmqPostgres, '/submit'),
    ...(bullmq === undefined ? {} : { bullmq: load(bullmq, '/submit') }),
  };
  for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
  return subjects;
}

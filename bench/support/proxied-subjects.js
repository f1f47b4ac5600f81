import { insertKeys } from './callers.js';
import { withinLimit } from './within-limit.js';

const connections = 32;
const trusted = { TRUST_PROXY: '1' };

/**
 * The service as it is deployed, the floor, and the floor with limits, all behind the same proxy. They get the same
 * calls with the same headers. Each is loaded for a while before it is ready.
 * @param {import('./bench.js').Bench} bench
 * @param {object} scene
 * @param {number} scene.keys
 * @param {number} scene.callers including those without a key
 * @param {number} scene.perMinute the shipped limit
 * @param {(databaseUrl: string) => Promise<string>} scene.serviceScript
 * @param {(databaseUrl: string) => Promise<string>} scene.bareScript
 * @returns {Promise<Record<string, () => Promise<import('./wrk.js').Load>>>}
 */
export async function proxiedSubjects(bench, { keys, callers, perMinute, serviceScript, bareScript }) {
  const databaseUrl = await bench.serviceDatabase();
  await insertKeys(databaseUrl, keys);
  const script = await serviceScript(databaseUrl);
  const service = await bench.service({ databaseUrl, limits: 'shipped', env: trusted });
  const peer = async (program, env = {}) => {
    const url = await bench.emptyDatabase();
    const subject = await bench.peer(program, { DATABASE_URL: url, ...env });
    return [subject, await bareScript(url)];
  };
  const loads = { bare: await peer('bare.js'), service: [service, script] };
  if (!bench.short) {
    loads.postgres = await peer('bare-limited.js', { LIMITS: 'postgres' });
    if (bench.redis !== undefined) {
      loads.redis = await peer('bare-limited.js', { LIMITS: 'redis', REDIS_URL: bench.quickRedis.url });
    }
  }
  const subjects = {};
  for (const [name, [subject, lua]] of Object.entries(loads)) {
    const load = (seconds) => bench.load(subject, lua, { connections, seconds });
    const limited = name === 'bare' ? load : withinLimit(load, { callers, perMinute });
    await limited(bench.warmUpSeconds);
    subjects[name] = () => limited(bench.turnSeconds);
  }
  return subjects;
}

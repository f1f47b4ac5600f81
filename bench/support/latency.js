import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { smallInput } from './inputs.js';
import { hrtimeMs } from './model-server.js';
import { submitOne } from './submit-many.js';

const warmUps = 50;
const patienceMs = 30_000;

/**
 * Submits one request at a time to an idle service, and measures the time until its handler calls the model, or until
 * it arrives otherwise.
 * @param {import('./bench.js').Bench} bench
 * @param {{ url: string, headers?: Record<string, string>, nextArrival?: () => Promise<number> }} subject
 * @param {number} count
 * @returns {Promise<() => Promise<number[]>>} warmed up; each call measures `count` times, in ms
 */
export async function latencyOf(bench, subject, count) {
  const { url, headers, nextArrival = () => bench.model.nextArrival() } = subject;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = async () => {
    const arrival = nextArrival();
    const sentAtMs = hrtimeMs();
    const answered = submitOne({ url, agent, headers, body: smallInput });
    const late = delay(patienceMs, undefined, { ref: false }).then(() => {
      throw new Error(`no handler started within ${patienceMs} ms`);
    });
    const ms = (await Promise.race([arrival, late])) - sentAtMs;
    await answered;
    // Uneven, so that the pauses never stay in step with timers of the subject.
    await delay(15 + Math.random() * 30);
    return ms;
  };
  const measure = async (times) => {
    const samples = [];
    for (let i = 0; i < times; i++) samples.push(await once());
    return samples;
  };
  await measure(warmUps);
  return () => measure(count);
}

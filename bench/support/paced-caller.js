import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const everyMs = 20;
/** A call that takes longer counts as failed, with this duration. */
const patienceMs = 10_000;

/** Submits and reads the status in turn, every 20 ms, even if earlier calls are not answered yet. */
export class PacedCaller {
  /**
   * @param {string} url
   * @param {string} key
   */
  constructor(url, key) {
    this.url = url;
    this.headers = { Authorization: `Key ${key}`, 'Content-Type': 'application/json' };
    this.agent = new Agent({ keepAlive: true, maxSockets: 64 });
  }

  /**
   * @param {number} seconds
   * @returns {Promise<{ ms: number[], failed: string[] }>} how long each call took, and which calls failed
   */
  async call(seconds) {
    const ms = [];
    const failed = [];
    const calls = [];
    const count = (seconds * 1_000) / everyMs;
    const begun = performance.now();
    let id = '';
    for (let i = 0; i < count; i++) {
      await delay(Math.max(0, begun + i * everyMs - performance.now()));
      const options =
        i % 2 === 0 || id === ''
          ? { method: 'POST', path: '/v1/queue/bench/noop', body: '{"prompt":"a"}' }
          : { method: 'GET', path: `/v1/queue/requests/${id}/status` };
      const started = performance.now();
      const one = async () => {
        try {
          const { status, text } = await this.#call(options);
          ms.push(performance.now() - started);
          if (status >= 400) failed.push(`${status} ${/"code":"(\w+)"/.exec(text)?.[1]}`);
          else if (options.method === 'POST') id = JSON.parse(text).request_id;
        } catch (error) {
          ms.push(patienceMs);
          failed.push(error.code ?? error.message);
        }
      };
      calls.push(one());
    }
    await Promise.all(calls);
    return { ms, failed };
  }

  #call({ method, path, body }) {
    return new Promise((resolve, reject) => {
      const { agent, headers } = this;
      const call = request(
        new URL(path, this.url),
        { method, agent, headers, timeout: patienceMs },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => (text += part));
          response.once('error', reject).once('end', () => resolve({ status: response.statusCode, text }));
        },
      );
      call.once('timeout', () => call.destroy(new Error('no answer in time')));
      call.once('error', reject);
      call.end(body);
    });
  }
}

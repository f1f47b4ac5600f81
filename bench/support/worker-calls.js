import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { keyHeader } from './built-service.js';

/** The longest time that a claim may wait. */
const waitSeconds = 25;
const noop = '{"ok":true}';

/** A worker without a client library: it claims runs, and ends them. */
export class BenchWorker {
  #worker = { id: randomUUID(), name: 'bench' };

  /**
   * @param {string} url of the service
   * @param {string} modelId
   * @param {Agent} [agent]
   */
  constructor(url, modelId, agent = new Agent({ keepAlive: true })) {
    this.url = url;
    this.modelId = modelId;
    this.agent = agent;
  }

  /**
   * Returns when there is a run, or when the claim's time is over.
   * @param {number} max
   * @returns {Promise<{ request_id: string, lease_token: string }[]>}
   */
  async claim(max) {
    const body = {
      claim_id: randomUUID(),
      worker: this.#worker,
      models: [{ model_id: this.modelId, max }],
      max,
    };
    const headers = { Prefer: `wait=${waitSeconds}` };
    const { status, text } = await this.#call('POST', 'claims', JSON.stringify(body), headers);
    if (status === 204) return [];
    if (status !== 200) throw new Error(`the claim was answered ${status}: ${text}`);
    return JSON.parse(text).runs;
  }

  /** @param {{ request_id: string, lease_token: string }} run */
  async finish({ request_id: id, lease_token: token }) {
    const { status, text } = await this.#call('PUT', `runs/${id}/output`, noop, { 'Lease-Token': token });
    if (status !== 200) throw new Error(`the output was answered ${status}: ${text}`);
  }

  #call(method, path, body, headers) {
    return new Promise((resolve, reject) => {
      const call = request(
        `${this.url}/v1/worker/${path}`,
        {
          method,
          agent: this.agent,
          headers: {
            ...keyHeader,
            ...headers,
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => (text += part));
          response.once('error', reject).once('end', () => resolve({ status: response.statusCode, text }));
        },
      );
      call.once('error', reject).end(body);
    });
  }
}

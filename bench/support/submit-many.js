import { Agent, request } from 'node:http';

/**
 * Makes exactly `count` submissions over `connections` connections.
 * @param {object} options
 * @param {string} options.url
 * @param {Record<string, string>} [options.headers]
 * @param {string} options.body
 * @param {number} options.count
 * @param {number} options.connections
 * @returns {Promise<string[]>} the request ids
 */
export async function submitMany({ url, headers, body, count, connections }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ids = [];
  let left = count;
  const one = async () => {
    while (left-- > 0) ids.push(await submitOne({ url, agent, headers, body }));
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
  return ids;
}

/**
 * @param {object} options
 * @param {string} options.url
 * @param {Agent} options.agent
 * @param {Record<string, string>} [options.headers]
 * @param {string} options.body
 * @returns {Promise<string>} the request id
 */
export function submitOne({ url, agent, headers, body }) {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: { 'Content-Type': 'application/json', ...headers } };
    const call = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.once('error', reject).once('end', () => {
        if (response.statusCode === 202) resolve(JSON.parse(text).request_id);
        else reject(new Error(`the submission was answered ${response.statusCode}: ${text}`));
      });
    });
    call.once('error', reject).end(body);
  });
}

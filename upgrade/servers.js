import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

async function listen(handle) {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

/** A model server. It answers with the number of the input, after as many milliseconds as the input says. */
export const startModel = () =>
  listen(async (request, response) => {
    const { n, ms } = await json(request);
    await delay(ms, undefined, { ref: false });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ n }));
  });

/** A receiver of webhooks. `calls`: for each request, the ids and statuses of the webhooks about it. */
export async function startReceiver() {
  const calls = new Map();
  const server = await listen(async (request, response) => {
    const { request_id: id, status } = await json(request);
    if (!calls.has(id)) calls.set(id, new Set());
    calls.get(id).add(`${request.headers['webhook-id']} ${status}`);
    response.writeHead(204).end();
  });
  return { ...server, calls };
}

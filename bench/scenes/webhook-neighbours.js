import { createServer } from 'node:net';
import { cpuMeter, secondsOf } from '../support/drains.js';
import { smallInput } from '../support/inputs.js';
import { preloadWaiting } from '../support/preload.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';
import { until } from '../support/until.js';

export const scene = {
  number: 26,
  name: 'webhook-neighbours',
  title: '10,000 webhooks beside a dead receiver',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 1_000 : 10_000;
    const [refusing, hanging] = [await closedUrl(), await hangingUrl(bench)];
    const turns = await interleave(bench.rounds, {
      without: () => deliver(bench, count, null),
      refused: () => deliver(bench, count, refusing),
      hung: () => deliver(bench, count, hanging),
    });
    const options = { field: 'seconds', bar: { most: 1.2 } };
    return [
      turnsRow('s to the last, beside one that refuses', turns.refused, 'without it', turns.without, options),
      turnsRow('s to the last, beside one that hangs', turns.hung, 'without it', turns.without, options),
      ...cpuRows('delivery, beside one that refuses', turns.refused, turns.without, 'without it'),
    ];
  },
};

/**
 * Completes twice as many requests, every other one for the good receiver. Without a dead receiver the rest have no
 * webhook, so that the queue has equal work.
 * @param {import('../support/bench.js').Bench} bench
 * @param {number} count
 * @param {string | null} otherUrl
 */
async function deliver(bench, count, otherUrl) {
  const databaseUrl = await bench.serviceDatabase();
  const urls = [`${bench.model.url}/receiver`, otherUrl];
  await preloadWaiting(databaseUrl, 'bench/noop', 2 * count, smallInput, { webhookUrls: urls });
  const meter = cpuMeter(bench);
  const service = await bench.service({ databaseUrl, env: { WEBHOOK_ALLOW: '127.0.0.1' } });
  const done = `FROM webhook_delivery WHERE state = 'delivered'`;
  await until(databaseUrl, `(SELECT count(*) ${done}) = ${count}`, 250);
  const seconds = await secondsOf(
    databaseUrl,
    // The `next_try_at` of a finished delivery is the time at which it finished.
    `SELECT extract(epoch FROM max(next_try_at) - (SELECT min(started_at) FROM request)) AS seconds,
            count(*) AS done ${done}`,
    count,
  );
  const cpu = meter([service], count);
  await service.stop();
  return { seconds, ...cpu };
}

async function closedUrl() {
  const { server, url } = await listening(() => undefined);
  await new Promise((done) => server.close(done));
  return url;
}

/** Returns the URL of a server that accepts connections and never answers. */
async function hangingUrl(bench) {
  const sockets = new Set();
  const { server, url } = await listening((socket) => sockets.add(socket.on('error', () => undefined)));
  bench.atEndOfScene(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return url;
}

async function listening(onConnection) {
  const server = createServer(onConnection);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

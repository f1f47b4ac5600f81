import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

/**
 * Attacks of a hostile or careless caller. Each runs in a process of its own (attacker.js) for some seconds, with loops
 * that end when the time is over.
 * @typedef {object} Target
 * @property {string} url of the node
 * @property {string} key an ordinary key: submit, read, cancel
 * @property {string} workKey a key of a worker
 * @property {string} largeId a request of the ordinary key with an output of 10 MB
 * @property {string[]} ids a thousand requests of the ordinary key that wait
 * @property {number} hangingPort where connections are accepted and never answered, on every loopback address
 * @property {() => boolean} isOver
 */

const mib = 1024 * 1024;

/** @param {Target} target */
function open({ url }, text = '') {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  if (text !== '') socket.write(text);
  return socket;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function untilOver({ isOver }) {
  while (!isOver()) await pause(50);
}

/** Opens `count` connections without reading from them, and replaces those that are closed. */
async function keepUnread(target, count, text) {
  const sockets = new Set();
  while (!target.isOver()) {
    while (sockets.size < count) {
      const socket = open(target, text);
      socket.pause();
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    await pause(100);
  }
  for (const socket of sockets) socket.destroy();
}

/** Runs `connections` loops, each of which calls again as soon as its last call is answered. */
async function inLoop(target, connections, next) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let number = 0;
  const one = async () => {
    while (!target.isOver()) await call(target, agent, next(number++)).catch(() => pause(20));
  };
  await Promise.all(Array.from({ length: connections }, one));
  agent.destroy();
}

/** @returns {Promise<number>} the status */
function call({ url }, agent, { method = 'GET', path, headers = {}, body }) {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), { method, agent, headers }, (response) => {
      response
        .resume()
        .once('end', () => resolve(response.statusCode))
        .once('error', reject);
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

const as = (key) => ({ Authorization: `Key ${key}`, 'Content-Type': 'application/json' });
const get = (path, fields = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
const manyObjects = Buffer.from(`{"list":[${'{},'.repeat((10 * mib) / 3 - 20)}{}]}`);
const submission = (model) => `/v1/queue/${model}`;

function bodies(model, body, headers = {}) {
  return (target) =>
    inLoop(target, 10, () => ({
      method: 'POST',
      path: submission(model),
      body,
      headers: { ...as(target.key), ...headers },
    }));
}

/** @type {Record<string, (target: Target) => Promise<void>>} */
export const attacks = {
  'API descriptions, 40 × 50 ahead, unread': (target) =>
    keepUnread(target, 40, get('/openapi.json').repeat(50)),
  'API descriptions, 10 connections': (target) => inLoop(target, 10, () => ({ path: '/openapi.json' })),
  'API descriptions for invented hosts': (target) =>
    inLoop(target, 10, (n) => ({ path: '/openapi.json', headers: { Host: `host-${n}.example` } })),
  'ten bodies of 10 MB of objects': bodies('bench/echo', manyObjects),
  'the same, compressed': bodies('bench/echo', gzipSync(manyObjects), { 'Content-Encoding': 'gzip' }),
  'a hundred bodies that stall': (target) =>
    keepUnread(
      target,
      100,
      `POST ${submission('bench/echo')} HTTP/1.1\r\nHost: a\r\nAuthorization: Key ${target.key}\r\n` +
        `Content-Length: ${10 * mib}\r\n\r\n${'{"a":"'.padEnd(64 * 1024, 'x')}`,
    ),
  'a hundred compressed bodies that stall': async (target) => {
    const body = gzipSync(manyObjects);
    const head =
      `POST ${submission('bench/echo')} HTTP/1.1\r\nHost: a\r\nAuthorization: Key ${target.key}\r\n` +
      `Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    await keepUnread(target, 100, Buffer.concat([Buffer.from(head), body.subarray(0, -100)]));
  },
  '90 outputs of 10 MB, unread': (target) =>
    keepUnread(target, 90, get(`/v1/queue/requests/${target.largeId}`)),
  'outputs of 10 MB as streams, unread': (target) =>
    keepUnread(target, 90, get(`/v1/queue/requests/${target.largeId}/output/stream`)),
  '3,000 status streams without a key': (target) =>
    keepUnread(target, 3_000, get(`/v1/queue/requests/${target.ids[0]}/status/stream`)),
  '3,000 held calls': (target) =>
    keepUnread(target, 3_000, get(`/v1/queue/requests/${target.ids[0]}/status`, 'Prefer: wait=60\r\n')),
  'statuses of 1,000 ids': (target) =>
    inLoop(target, 10, () => ({
      method: 'POST',
      path: '/v1/queue/requests/status',
      headers: as(target.key),
      body: JSON.stringify({ request_ids: target.ids }),
    })),
  'cancels of 10,000 unknown ids': (target) => {
    const ids = Array.from({ length: 10_000 }, (_, i) => target.ids[0].slice(0, -5) + String(10_000 + i));
    const body = JSON.stringify({ request_ids: ids });
    return inLoop(target, 10, () => ({
      method: 'POST',
      path: '/v1/queue/requests/cancel',
      headers: as(target.key),
      body,
    }));
  },
  'lists of a hundred': (target) =>
    inLoop(target, 10, () => ({ path: '/v1/queue/requests?limit=100&tag=a:b', headers: as(target.key) })),
  'batches of 1,000 for unknown models': (target) => {
    const requests = Array.from({ length: 1_000 }, (_, i) => ({
      model_id: `bench/${'x'.repeat(60)}${i}`,
      input: {},
    }));
    const body = JSON.stringify({ requests });
    return inLoop(target, 10, () => ({
      method: 'POST',
      path: '/v1/queue/requests',
      headers: as(target.key),
      body,
    }));
  },
  'requests for a hundred dead webhook hosts': async (target) => {
    await inLoop(target, 5, (n) => ({
      method: 'POST',
      path: `${submission('bench/noop')}?webhook=http://127.0.${1 + (n % 100)}.1:${target.hangingPort}/`,
      headers: as(target.key),
      body: '{"prompt":"a"}',
    }));
  },
  'a pattern that backtracks': bodies('bench/pattern', JSON.stringify({ text: `${'a'.repeat(28)}!` })),
  'uniqueItems of 100,000': bodies(
    'bench/unique',
    JSON.stringify({ list: Array.from({ length: 100_000 }, (_, i) => ({ i })) }),
  ),
  'thousands of workers': (target) =>
    inLoop(target, 20, (n) => ({
      method: 'POST',
      path: '/v1/worker/claims',
      headers: as(target.workKey),
      body: JSON.stringify({
        claim_id: `claim-${process.pid}-${n}`,
        worker: { id: `worker-${process.pid}-${n}` },
        max: 1,
        models: [{ model_id: 'bench/worker', max: 1 }],
      }),
    })),
  'refused calls of operators': (target) =>
    inLoop(target, 10, () => ({ path: '/v1/admin/keys', headers: as(target.key) })),
  'invented keys': (target) =>
    inLoop(target, 20, (n) => ({
      path: '/v1/key',
      headers: as(`ns_invented_${process.pid}_${n}_0123456789`),
    })),
  'invented addresses': (target) =>
    inLoop(target, 20, (n) => ({
      path: `/v1/queue/requests/${target.ids[0]}/status`,
      headers: { 'X-Forwarded-For': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` },
    })),
  '500 MB of files': (target) => uploads(target),
  'initiated uploads': (target) =>
    inLoop(target, 10, () => ({
      method: 'POST',
      path: '/v1/storage/upload/initiate',
      headers: as(target.key),
      body: '{"content_type":"image/png","file_name":"a.png"}',
    })),
  'sign-ins with wrong keys': (target) =>
    inLoop(target, 10, (n) => ({
      method: 'POST',
      path: '/v1/admin/session',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ key: `ns_wrong_${n}_01234567890123456789` }),
    })),
  '500 heads that come by the byte': async (target) => {
    const sockets = Array.from({ length: 500 }, () => open(target, 'GET / HTTP/1.1\r\nHost: a\r\n'));
    while (!target.isOver()) {
      for (const socket of sockets) socket.write('a');
      await pause(500);
    }
    for (const socket of sockets) socket.destroy();
  },
  '200 bodies that come by the byte': async (target) => {
    const head = `POST ${submission('bench/noop')} HTTP/1.1\r\nHost: a\r\nAuthorization: Key ${target.key}\r\nContent-Length: 9999\r\n\r\n`;
    const sockets = Array.from({ length: 200 }, () => open(target, head));
    while (!target.isOver()) {
      for (const socket of sockets) if (socket.writable) socket.write('a');
      await pause(200);
    }
    for (const socket of sockets) socket.destroy();
  },
  '1,000 health calls ahead, unread': (target) => keepUnread(target, 20, get('/health/ready').repeat(1_000)),
  'bodies of a million numbers': bodies('bench/echo', `{"list":[${'1e400,'.repeat(900_000)}1]}`),
  'bodies nested deep': bodies('bench/echo', `{"a":${'['.repeat(190)}1${']'.repeat(190)}}`),
  'bodies with 200,000 members of one name': bodies('bench/echo', `{${'"a":1,'.repeat(200_000)}"b":1}`),
  'paths and queries of 10 kB': (target) =>
    inLoop(target, 10, () => ({
      path: `/v1/queue/requests?${'tag=a:b&'.repeat(1_200)}limit=1`,
      headers: as(target.key),
    })),
};

/** Twenty files of 25 MB. */
async function uploads(target) {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const bytes = Buffer.alloc(25 * mib, 'file ');
  for (let i = 0; i < 20 && !target.isOver(); i++) {
    const answer = await fetch(new URL('/v1/storage/upload/initiate', target.url), {
      method: 'POST',
      headers: as(target.key),
      body: '{"content_type":"application/octet-stream","file_name":"a.bin"}',
    });
    if (!answer.ok) return untilOver(target);
    const { upload_url: path } = await answer.json();
    const headers = { 'Content-Type': 'application/octet-stream' };
    await call(target, agent, { method: 'PUT', path, headers, body: bytes }).catch(() => undefined);
  }
  agent.destroy();
  return untilOver(target);
}

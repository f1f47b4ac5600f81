import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:net';
import { killAtExit } from './at-exit.js';

/**
 * Starts a Redis that either writes everything to disk before it answers, or nothing at all.
 * @param {string} directory
 * @param {{ durable: boolean }} options
 * @returns {Promise<{ url: string, stop(): Promise<void> } | undefined>} undefined: it is not installed
 */
export async function startRedis(directory, { durable }) {
  const port = await freePort();
  const child = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      directory,
      '--save',
      '',
      '--appendonly',
      durable ? 'yes' : 'no',
      '--appendfsync',
      'always',
      '--maxmemory-policy',
      'noeviction',
    ],
    { stdio: 'ignore' },
  );
  killAtExit(child);
  let exited = false;
  child.once('error', () => (exited = true));
  const closed = new Promise((done) => child.once('close', done)).then(() => (exited = true));
  while (!exited && !(await answers(port))) await delay(50);
  if (exited) return undefined;
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

function answers(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** @returns {Promise<number>} */
export async function freePort() {
  const server = createServer();
  await new Promise((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

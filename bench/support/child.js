import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { killAtExit } from './at-exit.js';

const startPatienceMs = 120_000;

/**
 * A process that reports where it listens. Its output goes to a file, as a service's does.
 * @typedef {object} ListeningProcess
 * @property {string} url
 * @property {number} pid
 * @property {import('node:child_process').ChildProcess} child
 * @property {Promise<object>} firstMessage that it sends to the bench
 * @property {() => Promise<void>} stop SIGTERM, and SIGKILL when that does not help
 */

/**
 * The next message of a child. Rejects if the child ends without one.
 * @param {import('node:child_process').ChildProcess} child
 */
export function nextMessage(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) =>
      reject(new Error(`${child.spawnargs[1]} ended without a message, exit code ${code}`)),
    );
  });
}

/**
 * @param {object} options
 * @param {string[]} options.args of node
 * @param {Record<string, string>} options.env
 * @param {string} options.log a file
 * @param {string} [options.cwd]
 * @returns {Promise<ListeningProcess>}
 */
export async function spawnListening({ args, env, log, cwd }) {
  const fd = openSync(log, 'w');
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', fd, fd, 'ipc'],
  });
  closeSync(fd);
  killAtExit(child);
  const exited = new Promise((done) => child.once('close', done));
  const firstMessage = new Promise((resolve) => child.once('message', resolve));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const patience = new AbortController();
    const late = delay(20_000, 'late', { signal: patience.signal }).catch(() => 'ended');
    if ((await Promise.race([exited, late])) === 'late') child.kill('SIGKILL');
    patience.abort();
    await exited;
  };
  const deadline = performance.now() + startPatienceMs;
  for (;;) {
    const said = readFileSync(log, 'utf8');
    const url = /listening on (http:\/\/\S+)/.exec(said)?.[1];
    if (url !== undefined) return { url, pid: child.pid, child, firstMessage, stop };
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`${args.join(' ')} did not start:\n${said.slice(-2_000)}`);
    }
    await delay(50);
  }
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const peers = ['bullmq', 'express', 'graphile-worker', 'pg', 'pg-boss', 'rate-limiter-flexible'];

export function machine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    // Above 0 before the bench has begun: other programs use the machine too.
    loadBefore: loadavg()[0],
  };
}

/** @param {Record<string, string>} postgresSettings */
export function versions(postgresSettings) {
  return {
    node: process.version,
    postgres: postgresSettings,
    redis: said('redis-server', ['--version']).match(/v=(\S+)/)?.[1] ?? null,
    wrk: said('wrk', ['--version']).match(/wrk (\S+)/)?.[1] ?? null,
    ...Object.fromEntries(peers.map((name) => [name, versionOf(name)])),
  };
}

export function gitState() {
  return {
    commit: said('git', ['rev-parse', 'HEAD']).trim() || null,
    // Each commit with this tree of the sources is the same service.
    sourceTree: said('git', ['rev-parse', 'HEAD:src']).trim() || null,
    changed:
      said('git', ['status', '--porcelain', '--', 'src', 'migrations', 'bench', ':!bench/results']).trim() !==
      '',
  };
}

function versionOf(name) {
  const file = new URL(`../peers/node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

/** Returns the output of a program, whatever its exit code. wrk's exit code for its version is 1. */
function said(command, args) {
  try {
    return execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    return error.stdout ?? '';
  }
}

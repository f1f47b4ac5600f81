import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The parts of the build: their sources, their commands, and the file whose time shows when the part was built.
 * Types are checked by `npm run check`.
 */
const parts = {
  service: {
    inputs: ['src', 'migrations', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
    stamp: 'dist/.build.tsbuildinfo',
    command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck'],
  },
  console: {
    inputs: ['console', 'package-lock.json'],
    stamp: 'dist/console/index.html',
    command: ['node_modules/vite/bin/vite.js', 'build', 'console'],
  },
};

/** Builds every part that is older than one of its sources, all of them at once. */
export function buildIfStale() {
  const stale = Object.keys(parts).filter((name) => isStale(parts[name]));
  if (stale.length === 0) return;
  const { status, stdout, stderr } = spawnSync(process.execPath, [self, ...stale], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
}

function isStale({ inputs, stamp, command: [program] }) {
  // An installation without the build tools serves the existing files.
  if (!existsSync(join(root, program))) return false;
  return modified(join(root, stamp)) <= Math.max(...inputs.map((input) => newest(join(root, input))));
}

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  // The directory's own time counts too, because it shows that a file was removed.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function build(name) {
  const { command, stamp } = parts[name];
  const started = new Date();
  const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
  child.once('close', (code) => {
    if (code === 0) utimesSync(join(root, stamp), started, started);
    else process.exitCode = 1;
  });
}

if (process.argv[1] === self) process.argv.slice(2).forEach(build);

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run formal`: checks the model of the queue's core with Spin, first with all guards, then with each guard taken
 * out. Without a guard, Spin must find a counterexample. `npm run formal -- TOKEN_ON_FINISH` prints that of one guard.
 */
const model = fileURLToPath(new URL('core.pml', import.meta.url));
const install = 'Install them with: apt-get install -y spin gcc libc6-dev';
const work = mkdtempSync(join(tmpdir(), 'formal-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

function execute(command, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: work,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (error?.code === 'ENOENT') fail(`${command} is missing. ${install}`);
  if (error) fail(`${command} could not run: ${error.message}`);
  return { status, output: stdout + stderr };
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

// Spin numbers the names of an mtype from the last one on.
const guards = readFileSync(model, 'utf8')
  .match(/mtype:guard = \{([^}]*)\}/)[1]
  .split(',')
  .map((name) => name.trim());
const environmentOf = (guard) => ({
  env: { ...process.env, GUARD_OFF: String(guards.length - guards.indexOf(guard)) },
});

const generated = execute('spin', ['-a', model]);
if (generated.status !== 0) fail(generated.output);
const compiled = execute('gcc', ['-O1', '-w', '-DSAFETY', '-DMEMLIM=900', '-o', 'pan', 'pan.c']);
if (compiled.status !== 0) fail(`${compiled.output}\ngcc could not compile the model. ${install}`);

/** `outcome`: of a search that is complete, or that has found a counterexample. */
function search(guard) {
  const started = performance.now();
  const { output } = execute(join(work, 'pan'), ['-m10000'], environmentOf(guard));
  const errors = /errors: (\d+)/.exec(output)?.[1];
  const isPartial = /Search not completed|max search depth too small|hash-compact|bitstate/i.test(output);
  const outcome = errors === '1' ? 'counterexample' : errors === '0' && !isPartial ? 'holds' : 'unknown';
  const states = /(\d+) states, stored/.exec(output)?.[1] ?? '?';
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  return { outcome, output, figures: `${states} states, ${seconds} s` };
}

const asked = process.argv[2];
if (asked !== undefined) {
  if (!guards.includes(asked)) fail(`There is no guard ${asked}. There are: ${guards.slice(1).join(', ')}.`);
  const { outcome, output } = search(asked);
  process.stdout.write(
    outcome === 'counterexample'
      ? execute(join(work, 'pan'), ['-r', 'core.pml.trail'], environmentOf(asked)).output
      : output,
  );
  process.exit(0);
}

let passed = 0;
let failed = 0;
for (const guard of guards) {
  const { outcome, output, figures } = search(guard);
  const isAll = guard === 'NONE';
  const isRight = outcome === (isAll ? 'holds' : 'counterexample');
  const what = isAll
    ? 'with all guards, every property holds'
    : `without ${guard}, there is a counterexample`;
  process.stdout.write(`${isRight ? 'ok  ' : 'FAIL'} ${what} (${figures})\n`);
  if (isRight) passed++;
  else {
    failed++;
    process.stdout.write(`${output.replace(/\nunreached in[^]*/, '').trimEnd()}\n`);
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * All checks of the code besides its tests: the `check:…` scripts of package.json, in their order. All of them run,
 * even if one fails; `npm run check lint types` runs only those. Those in `onlyNamed` run only when they
 * are named: the checks of the image and of the packages take longer than all others together, and the rest ask a registry.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const steps = Object.keys(scripts)
  .filter((name) => name.startsWith('check:'))
  .map((name) => name.slice('check:'.length));
const onlyNamed = ['image', 'chart', 'data-folder', 'packages', 'python-types', 'vulnerabilities'];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !steps.includes(name));
if (unknown.length > 0) {
  console.error(`There is no check ${unknown.join(', ')}. There are: ${steps.join(', ')}.`);
  process.exit(1);
}

for (const step of asked.length > 0 ? asked : steps.filter((name) => !onlyNamed.includes(name))) {
  const started = performance.now();
  const { code, output } = await run(step);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${step} (${seconds} s)`);
  if (code !== 0) {
    process.exitCode = 1;
    console.log(`     ${scripts[`check:${step}`]}\n${output.trimEnd()}\n`);
  }
}

function run(step) {
  const child = spawn(`npm run --silent check:${step}`, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  }
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const jestFlags = '--experimental-vm-modules node_modules/jest/bin/jest.js';

/** Everything that is asked of the code besides its tests, the quickest first. */
const steps = [
  ['format', 'prettier --check --log-level warn .'],
  ['lint', 'oxlint --type-aware --deny-warnings'],
  ['walls', 'depcruise src migrations --config .dependency-cruiser.cjs --output-type err'],
  ['types', 'tsc --noEmit -p tsconfig.json'],
  ['unused code', 'knip --no-progress'],
  ['OpenAPI drift', 'node scripts/openapi.js --check'],
  ['OpenAPI lint', 'redocly lint openapi.json'],
  ['migrations', `node ${jestFlags} --silent test/migrations.test.ts`],
];

const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, command] of steps) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const started = performance.now();
  const { code, output } = await run(command);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (code !== 0) {
    failed++;
    console.log(`     ${command}\n${output.trimEnd()}\n`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;

function run(command) {
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const child = spawn(command, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

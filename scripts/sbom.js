import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';
import { bundledPackages } from './packages.js';

/**
 * Writes the software bill of materials of what the service runs with and of what is in the built console, in CycloneDX,
 * to dist/sbom.cdx.json or the file that the first argument names. Its tool has 150 packages of 47 MB, one of which runs a script when it is installed,
 * so it is no dependency: npx fetches it, without scripts, from a folder that is not the project's.
 */
const tool = '@cyclonedx/cyclonedx-npm@6.0.1';
const root = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(process.argv[2] ?? join(root, 'dist/sbom.cdx.json'));
const folder = mkdtempSync(join(tmpdir(), 'nowserving-sbom-'));
try {
  buildIfStale();
  mkdirSync(dirname(target), { recursive: true });
  const options = ['--omit', 'dev', '--mc-type', 'application', '--output-reproducible', '--validate'];
  const { status } = spawnSync(
    'npx',
    ['--yes', '--ignore-scripts', `--package=${tool}`, 'cyclonedx-npm']
      .concat(options)
      .concat(['--output-file', target, join(root, 'package.json')]),
    { cwd: folder, stdio: 'inherit' },
  );
  if (status === 0) {
    addConsole();
    console.log(`Wrote ${target}`);
  } else process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The tool does not list the console's packages, because they are development dependencies. */
function addConsole() {
  const bill = JSON.parse(readFileSync(target, 'utf8'));
  const listed = new Set(bill.components.map(({ purl }) => purl));
  const added = bundledPackages()
    .map(componentOf)
    .filter(({ purl }) => !listed.has(purl));
  bill.components.push(...added);
  bill.dependencies.push(...added.map(({ purl }) => ({ ref: purl })));
  writeFileSync(target, `${JSON.stringify(bill, undefined, 2)}\n`);
}

function componentOf({ name, version, identifier }) {
  const [group, inGroup] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    name: inGroup,
    group,
    version,
    'bom-ref': purl,
    scope: 'required',
    licenses: identifier ? [{ expression: identifier }] : [],
    purl,
  };
}

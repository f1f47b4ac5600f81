import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes the software bill of materials of what the service runs with, in CycloneDX, to dist/sbom.cdx.json or the file
 * that the first argument names. Its tool has 150 packages of 47 MB, one of which runs a script when it is installed,
 * so it is no dependency: npx fetches it, without scripts, from a folder that is not the project's.
 */
const tool = '@cyclonedx/cyclonedx-npm@6.0.1';
const root = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(process.argv[2] ?? join(root, 'dist/sbom.cdx.json'));
const folder = mkdtempSync(join(tmpdir(), 'nowserving-sbom-'));
try {
  mkdirSync(dirname(target), { recursive: true });
  const options = ['--omit', 'dev', '--mc-type', 'application', '--output-reproducible', '--validate'];
  const { status } = spawnSync(
    'npx',
    ['--yes', '--ignore-scripts', `--package=${tool}`, 'cyclonedx-npm']
      .concat(options)
      .concat(['--output-file', target, join(root, 'package.json')]),
    { cwd: folder, stdio: 'inherit' },
  );
  if (status === 0) console.log(`Wrote ${target}`);
  else process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

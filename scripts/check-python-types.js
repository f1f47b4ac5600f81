import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Checks the types of the Python client with pyright, by the options in its pyproject.toml. The checker has 38 MB and no
 * other user, so it is no dependency: npx fetches it from the registry, from a folder that is not the project's.
 */
const tool = 'pyright@1.1.414';
const project = fileURLToPath(new URL('../clients/python', import.meta.url));
const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import httpx']).status === 0,
);
if (python === undefined) {
  console.error(
    'The client needs httpx. Install it for python3, for instance from the Debian package python3-httpx.',
  );
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'nowserving-types-'));
try {
  const { status, error } = spawnSync(
    'npx',
    [
      '--yes',
      '--ignore-scripts',
      `--package=${tool}`,
      'pyright',
      '--project',
      project,
      '--pythonpath',
      python,
    ],
    { cwd: folder, stdio: 'inherit' },
  );
  if (error !== undefined) console.error(error.message);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiles `src` twice: as ES modules into dist/esm, as CommonJS into dist/cjs. The worker is for Node alone. */
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const cwd = fileURLToPath(new URL('.', import.meta.url));
const made = mkdtempSync(join(cwd, '.build-'));

try {
  for (const [format, suffix] of Object.entries({ esm: '', cjs: '.cjs' })) {
    for (const at of ['', 'src/worker/']) {
      const args = ['-p', `${at}tsconfig${suffix}.json`, '--outDir', join(made, 'dist', format)];
      execFileSync(process.execPath, [tsc, ...args], { cwd, stdio: 'inherit' });
    }
  }
  writeFileSync(join(made, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');
  // npm makes it executable at installs only.
  chmodSync(join(made, 'dist/esm/worker/cli.js'), 0o755);
  // Who runs or packs the client meanwhile finds the old files or the new ones.
  if (existsSync(join(cwd, 'dist'))) renameSync(join(cwd, 'dist'), join(made, 'old'));
  renameSync(join(made, 'dist'), join(cwd, 'dist'));
} finally {
  rmSync(made, { recursive: true, force: true });
}

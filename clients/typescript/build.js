import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Compiles `src` twice: as ES modules into dist/esm, as CommonJS into dist/cjs. The worker is for Node alone. */
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const cwd = fileURLToPath(new URL('.', import.meta.url));

rmSync(new URL('dist', import.meta.url), { recursive: true, force: true });
for (const project of ['', 'src/worker/'].flatMap((at) => [`${at}tsconfig.json`, `${at}tsconfig.cjs.json`])) {
  execFileSync(process.execPath, [tsc, '-p', project], { cwd, stdio: 'inherit' });
}
writeFileSync(new URL('dist/cjs/package.json', import.meta.url), '{ "type": "commonjs" }\n');

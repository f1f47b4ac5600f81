import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { buildIfStale } from './build.js';

/** Bytes, compressed, that a browser may load before the console shows anything. */
const allowed = { js: 120 * 1024, css: 10 * 1024 };

buildIfStale();
const dist = new URL('../dist/console/', import.meta.url);
const page = readFileSync(new URL('index.html', dist), 'utf8');
const names = new Set([...page.matchAll(/assets\/[\w-]+\.(?:js|css)/g)].map(([name]) => name));
// Static imports of the first scripts belong to the first load as well.
for (const name of names) {
  if (!name.endsWith('.js')) continue;
  const text = readFileSync(new URL(name, dist), 'utf8');
  for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g))
    names.add(`assets/${imported}`);
}
for (const [kind, max] of Object.entries(allowed)) {
  const files = [...names].filter((name) => name.endsWith(kind));
  const bytes = files.reduce(
    (sum, name) => sum + gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length,
    0,
  );
  const verdict = `${kind}: ${(bytes / 1024).toFixed(1)} KB of ${max / 1024} KB in ${files.length} files`;
  console.log(verdict);
  if (bytes > max) {
    console.error(`The first load of the console is too large, ${verdict}.`);
    process.exitCode = 1;
  }
}

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

/** Node's hooks (node:module, `register`) for our TypeScript: as tsconfig.json has it, types left unchecked. */
const options = {
  swcrc: false,
  jsc: {
    target: 'es2023',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};
const isOurs = (url) => url.startsWith('file:') && !url.includes('/node_modules/');

/** `./a.js` means ./a.ts, and so does the console's `./a`. */
export async function resolve(specifier, context, next) {
  if (/^\.\.?\//.test(specifier) && isOurs(context.parentURL ?? '')) {
    const source = ['.ts', '.tsx']
      .map((ending) => new URL(specifier.replace(/\.js$/, '') + ending, context.parentURL))
      .find((candidate) => existsSync(candidate));
    if (source !== undefined) return { url: source.href, shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!isOurs(url) || !/\.tsx?(\?|$)/.test(url)) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { ...options, filename });
  return { format: 'module', source: code, shortCircuit: true };
}

/**
 * Jest on Node 20 cannot `require` an ES module, and @nestjs/throttler is CommonJS that requires Nest, which is
 * ES modules only. The tests import it through here; jest.config.js says so. Outside Jest, Node itself can.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import * as common from '@nestjs/common';
import * as core from '@nestjs/core';

const native = createRequire(import.meta.url);
const esModules = { '@nestjs/common': common, '@nestjs/core': core };
const loaded = new Map();

function load(file) {
  const known = loaded.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const require = (name) => {
    if (name.startsWith('.')) return load(`${join(dirname(file), name)}.js`);
    return esModules[name] ?? native(name);
  };
  const parameters = ['require', 'module', 'exports'];
  const run = compileFunction(readFileSync(file, 'utf8'), parameters, { filename: file });
  run(require, module, module.exports);
  return module.exports;
}

export const {
  getOptionsToken,
  normalizeIp,
  SkipThrottle,
  Throttle,
  ThrottlerGuard,
  ThrottlerModule,
  ThrottlerStorage,
} = load(native.resolve('@nestjs/throttler/dist/index.js'));

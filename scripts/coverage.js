import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Prints how many lines of `src` tests have run, by room, from what Node has written to the folder of NODE_V8_COVERAGE:
 * `NODE_V8_COVERAGE=/tmp/coverage npm test && node scripts/coverage.js /tmp/coverage`. Processes that were killed are
 * missing.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** For each file of `src` its lines with code, and true if one of the processes ran them. */
const files = new Map();

const [folder] = process.argv.slice(2);
if (folder === undefined || !existsSync(folder)) {
  console.error('node scripts/coverage.js <folder of NODE_V8_COVERAGE>');
  process.exit(1);
}
for (const name of readdirSync(folder)) {
  const { result, 'source-map-cache': maps = {} } = written(name);
  for (const script of result)
    if (maps[script.url]?.data && !script.url.includes('/node_modules/')) read(script, maps[script.url]);
}
if (files.size === 0) {
  console.error(`${folder} has no coverage of src`);
  process.exit(1);
}
print();

/** A process that was killed while it wrote has left a part of a file. */
function written(name) {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'));
  } catch {
    return { result: [] };
  }
}

function read({ url, functions }, { lineLengths, data: map }) {
  const sources = map.sources.map((source) => sourceOf(source, url));
  if (!sources.some(Boolean)) return;
  const starts = [0];
  for (const length of lineLengths) starts.push(starts.at(-1) + length + 1);
  const runs = new Uint8Array(starts.at(-1));
  // Inner functions and blocks come after those that contain them.
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges)
      runs.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  for (const { line, column, source, sourceLine } of segments(map.mappings)) {
    if (!sources[source]) continue;
    const lines = files.get(sources[source]) ?? new Map();
    files.set(sources[source], lines);
    lines.set(sourceLine, (lines.get(sourceLine) ?? false) || runs[starts[line] + column] === 1);
  }
}

/** Returns the path below `src`, or undefined for other files. */
function sourceOf(source, url) {
  const path = source.startsWith('file:')
    ? fileURLToPath(source)
    : resolve(dirname(fileURLToPath(url)), source);
  const name = relative(join(root, 'src'), path);
  return name.startsWith('..') || name.endsWith('.spec.ts') ? undefined : name;
}

/** Decodes the mappings of a source map, whose numbers are differences in base 64. */
function* segments(mappings) {
  let [source, sourceLine] = [0, 0];
  for (const [line, text] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of text.split(',').filter(Boolean)) {
      const [toColumn, toSource, toLine] = numbers(segment);
      column += toColumn;
      if (toSource === undefined) continue;
      source += toSource;
      sourceLine += toLine;
      yield { line, column, source, sourceLine };
    }
  }
}

function numbers(segment) {
  const found = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = digits.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    found.push(value & 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return found;
}

function print() {
  const rooms = new Map();
  for (const [file, lines] of files) {
    const room = file.includes('/') ? file.split('/')[0] : '(programs)';
    const sum = rooms.get(room) ?? { lines: 0, run: 0 };
    rooms.set(room, sum);
    for (const isRun of lines.values()) {
      sum.lines++;
      if (isRun) sum.run++;
    }
  }
  const total = { lines: 0, run: 0 };
  for (const [room, { lines, run }] of [...rooms].sort(([one], [other]) => (one < other ? -1 : 1))) {
    console.log(lineOf(room, { lines, run }));
    total.lines += lines;
    total.run += run;
  }
  console.log(lineOf('all of src', total));
}

function lineOf(name, { lines, run }) {
  return `${name.padEnd(20)} ${((100 * run) / lines).toFixed(1).padStart(5)} % of ${lines} lines`;
}

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * @typedef {object} Load
 * @property {number} perSecond answers
 * @property {number} p50 ms
 * @property {number} p99 ms
 * @property {number} answers
 * @property {number} failures answers that are no 2xx or 3xx, time-outs, broken connections
 */

const report = `
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("\\nBENCH %d %d %f %f %d\\n", summary.requests, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    e.status + e.timeout + e.connect + e.read + e.write))
end
`;

let scripts = 0;

/**
 * @param {string} directory
 * @param {string} lua
 * @returns {string} the file
 */
export function scriptFile(directory, lua) {
  const file = join(directory, `load-${scripts++}.lua`);
  writeFileSync(file, lua);
  return file;
}

/**
 * Uses one thread of wrk, so that the load takes as little of the cores as it can.
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.directory for the script
 * @param {string} options.script Lua that makes the requests
 * @param {number} options.connections
 * @param {number} options.seconds
 * @returns {Promise<Load>}
 */
export async function wrk({ url, directory, script, connections, seconds }) {
  const file = scriptFile(directory, `${script}\n${report}`);
  const { stdout } = await run('wrk', [
    '-t',
    '1',
    '-c',
    String(connections),
    '-d',
    `${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    file,
    url,
  ]).catch((error) => {
    if (error.code === 'ENOENT') throw new Error('wrk is not installed (Debian: apt-get install wrk).');
    throw error;
  });
  const found = /BENCH (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/.exec(stdout);
  if (found === null) throw new Error(`wrk said:\n${stdout}`);
  const [answers, microseconds, p50, p99, failures] = found.slice(1).map(Number);
  return { perSecond: (answers * 1_000_000) / microseconds, p50, p99, answers, failures };
}

/**
 * Lua that POSTs the same body again and again.
 * @param {string} path
 * @param {string} body
 * @param {Record<string, string>} [headers]
 */
export function postScript(path, body, headers = {}) {
  const lines = Object.entries({ 'Content-Type': 'application/json', ...headers }).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return `wrk.method = "POST"
wrk.path = ${JSON.stringify(path)}
wrk.body = [==[${body}]==]
${lines.join('\n')}`;
}

/**
 * Lua that GETs each of the paths in turn.
 * @param {string[]} paths
 * @param {Record<string, string>} [headers]
 */
export function getScript(paths, headers = {}) {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return `${lines.join('\n')}
local paths = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }
local requests = {}
local turn = 0
init = function()
  for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end
end
request = function()
  turn = turn % #requests + 1
  return requests[turn]
end`;
}

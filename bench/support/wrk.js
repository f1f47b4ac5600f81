import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { killAtExit } from './at-exit.js';

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
 * One thread of wrk, so that the load eats as little of the cores as it can.
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.directory for the script
 * @param {string} options.script Lua that makes the requests
 * @param {number} options.connections
 * @param {number} options.seconds
 * @returns {Promise<Load>}
 */
export async function wrk({ url, directory, script, connections, seconds }) {
  const file = join(directory, `load-${scripts++}.lua`);
  writeFileSync(file, `${script}\n${report}`);
  const { stdout } = await run('wrk', [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s', '-s', file],
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

/** wrk asks for one call before it begins, to look at it. */
const countingReport = (count) => `
local ffi = require("ffi")
ffi.cdef[[
  typedef struct { long s; long ns; } bench_time;
  int clock_gettime(int clock, bench_time *time);
]]
local function microseconds()
  local time = ffi.new("bench_time")
  ffi.C.clock_gettime(1, time)
  return tonumber(time.s) * 1e6 + tonumber(time.ns) / 1e3
end
local next_call, calls, started, answers, failures = request, 0, 0, 0, 0
request = function()
  calls = calls + 1
  if calls == 2 then started = microseconds() end
  return next_call()
end
response = function(status)
  answers = answers + 1
  if status < 200 or status > 299 then failures = failures + 1 end
  if answers == ${count} then
    io.write(string.format("BENCH %d %d %d\\n", answers, microseconds() - started, failures))
    io.flush()
  end
end
`;

/**
 * Exactly so many answers, from the first call to the last of these answers.
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.directory for the script
 * @param {string} options.script Lua that makes the requests; some more of them are sent
 * @param {number} options.connections
 * @param {number} options.count
 * @returns {Promise<{ perSecond: number, answers: number, failures: number }>}
 */
export async function wrkUntil({ url, directory, script, connections, count }) {
  const file = join(directory, `load-${scripts++}.lua`);
  writeFileSync(file, `${script}\n${countingReport(count)}`);
  const child = spawn('wrk', ['-t', '1', '-c', String(connections), '-d', '120s', '-s', file, url]);
  killAtExit(child);
  const said = await new Promise((resolve, reject) => {
    let text = '';
    const heard = (part) => {
      text += part;
      if (/^BENCH .*\n/m.test(text)) child.kill();
    };
    child.stdout.on('data', heard);
    child.stderr.on('data', heard);
    child.once('error', reject).once('close', () => resolve(text));
  });
  const found = /^BENCH (\d+) (\d+) (\d+)/m.exec(said);
  if (found === null) throw new Error(`wrk said:\n${said}`);
  const [answers, microseconds, failures] = found.slice(1).map(Number);
  return { perSecond: (answers * 1_000_000) / microseconds, answers, failures };
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

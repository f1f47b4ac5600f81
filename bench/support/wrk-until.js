import { spawn } from 'node:child_process';
import { killAtExit } from './at-exit.js';
import { scriptFile } from './wrk.js';

/** wrk makes one call before it begins, to check the response. */
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
 * Counts exactly `count` answers, from the first call to the last of these answers.
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.directory for the script
 * @param {string} options.script Lua that makes the requests; slightly more than `count` are sent
 * @param {number} options.connections
 * @param {number} options.count
 * @returns {Promise<{ perSecond: number, answers: number, failures: number }>}
 */
export async function wrkUntil({ url, directory, script, connections, count }) {
  const file = scriptFile(directory, `${script}\n${countingReport(count)}`);
  const child = spawn('wrk', ['-t', '1', '-c', String(connections), '-d', '120s', '-s', file, url]);
  killAtExit(child);
  const said = await new Promise((resolve, reject) => {
    let text = '';
    const onText = (part) => {
      text += part;
      if (/^BENCH .*\n/m.test(text)) child.kill();
    };
    child.stdout.on('data', onText);
    child.stderr.on('data', onText);
    child.once('error', reject).once('close', () => resolve(text));
  });
  const found = /^BENCH (\d+) (\d+) (\d+)/m.exec(said);
  if (found === null) throw new Error(`wrk said:\n${said}`);
  const [answers, microseconds, failures] = found.slice(1).map(Number);
  return { perSecond: (answers * 1_000_000) / microseconds, answers, failures };
}

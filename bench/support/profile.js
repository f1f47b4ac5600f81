import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const idle = new Set(['(idle)', '(root)']);

/**
 * @param {string} directory
 * @returns {string[]} of node
 */
export function profileArgs(directory) {
  return ['--cpu-prof', `--cpu-prof-dir=${directory}`, '--cpu-prof-interval', '500'];
}

/**
 * Reports where the processes of one scene spent their own time, without that of called functions, from `skipMs` after
 * their start.
 * @param {string} directory with the profiles
 * @param {number} skipMs
 */
export function describeProfiles(directory, skipMs) {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => `${join(directory, name)}\n${describe(join(directory, name), skipMs)}`)
    .join('\n\n');
}

function describe(file, skipMs) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const functions = new Map();
  const places = new Map();
  let elapsed = 0;
  let busy = 0;
  let idleTime = 0;
  samples.forEach((id, i) => {
    elapsed += timeDeltas[i];
    if (elapsed < skipMs * 1_000) return;
    const frame = byId.get(id);
    if (idle.has(frame.functionName)) {
      idleTime += timeDeltas[i];
      return;
    }
    busy += timeDeltas[i];
    const place = placeOf(frame);
    const name = `${frame.functionName || '(anonymous)'} ${shortUrl(frame.url)}:${frame.lineNumber + 1}`;
    functions.set(name, (functions.get(name) ?? 0) + timeDeltas[i]);
    places.set(place, (places.get(place) ?? 0) + timeDeltas[i]);
  });
  const top = (times, count) =>
    [...times]
      .sort((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([name, time]) => `  ${((100 * time) / busy).toFixed(1).padStart(5)} %  ${name}`);
  const busyShare = ((100 * busy) / (busy + idleTime)).toFixed(0);
  return [
    `busy ${busyShare} % of the time; of that, by place:`,
    ...top(places, 16),
    'by function:',
    ...top(functions, 30),
  ].join('\n');
}

/** Returns a package, a folder of the service, or Node itself. */
function placeOf({ url, functionName }) {
  const packageName = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url)?.[1];
  if (packageName !== undefined) return packageName;
  const room = /dist\/src\/([^/]+)/.exec(url)?.[1];
  if (room !== undefined) return `src/${room}`;
  return url === '' ? functionName || '(native)' : url.split('/').slice(0, 2).join('/');
}

function shortUrl(url) {
  return url.replace(/^.*node_modules\//, '').replace(/^.*dist\//, '');
}

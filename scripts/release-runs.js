import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The runs that a release needs beside `.ci/run`, because they take hours, and the results that are recorded. A run counts
 * for a release if it had the tree of its sources. docs/reliability.md lists them.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
export const page = join(root, 'docs/reliability.md');
const begin = '<!-- by npm run release -- runs -->';
const end = '<!-- until here -->';

const readings = {
  upgrade: ({ to, wrong }) => ({ commit: to.commit, tree: to.tree, faults: wrong.length }),
  // What asynchronous replication loses is measured, and is no violation.
  drill: ({ commit, sourceTree, options, violations, lost, accepted }) => ({
    commit,
    tree: sourceTree,
    faults: options.async ? 0 : violations.length,
    measured: options.async && `${lost} of ${accepted.toLocaleString('en')} lost`,
  }),
  chaos: ({ commit, sourceTree, violations }) => ({ commit, tree: sourceTree, faults: violations.length }),
  bench: ({ git, scenes }) => ({
    commit: git.commit.slice(0, 10),
    tree: git.changed ? undefined : git.sourceTree,
    faults: scenes.flatMap(({ rows }) => rows).filter(({ met }) => met === false).length,
  }),
};

const failovers = ({ failovers: count }) => count;
const once = () => 1;
const isWhole = ({ only, seconds }) => only.length === 0 && (seconds === undefined || seconds >= 600);
const drill = (name, command, isOne, needed = 1) => ({
  name,
  command: `npm run drill -- failover ${command}`,
  folder: 'drill',
  needed,
  isOne: ({ options }) => isWhole(options) && isOne(options),
  amountOf: failovers,
});
const chaos = (name, command, isOne, needed = 1) => ({
  name,
  command: `npm run chaos -- ${command}`,
  folder: 'chaos',
  needed,
  amountOf: once,
  isOne: ({ options }) => isWhole(options) && isOne({ scene: '', ...options }),
});

/**
 * `isOne`: a result is such a run; `amountOf`: how much of `needed` it is; `countsWithFaults`: a bench that misses a bar
 * is still a measurement.
 */
const wanted = [
  {
    name: 'upgrade under load, and back',
    command: 'npm run upgrade',
    folder: 'upgrade',
    needed: 1,
    isOne: ({ stages }) => stages.length === 6,
    amountOf: once,
  },
  drill(
    'failovers, synchronous replication',
    '--rounds 4',
    ({ async, strict, pgbouncer }) => !async && !strict && !pgbouncer,
    20,
  ),
  drill('failovers, asynchronous replication', '--async', ({ async }) => async),
  drill('failovers, strict synchronous mode', '--strict', ({ strict }) => strict),
  drill('failovers through PgBouncer', '--pgbouncer', ({ pgbouncer }) => pgbouncer),
  chaos('chaos, seeds', '--release', ({ scene, pgbouncer }) => scene === '' && !pgbouncer, 5),
  chaos('chaos through PgBouncer', '--release', ({ scene, pgbouncer }) => scene === '' && pgbouncer),
  ...['depth', 'volume', 'restarts', 'clocks', 'day'].map((name) =>
    chaos(`chaos, scene ${name}`, '--release', ({ scene }) => scene === name),
  ),
  {
    name: 'bench, every scene',
    command: 'npm run bench',
    folder: 'bench',
    needed: 1,
    amountOf: once,
    isOne: ({ command }) => !/--(scene|short|profile)/.test(command),
    countsWithFaults: true,
  },
];

/** Returns the recorded results of a folder, the oldest first, as `{ file, commit, tree, faults, result }`. */
function resultsOf(folder) {
  const directory = join(root, folder, 'results');
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const result = JSON.parse(readFileSync(join(directory, name), 'utf8'));
      return { file: `${folder}/results/${name}`, result, ...readings[folder](result) };
    });
}

/**
 * Returns each wanted run with its results of these sources, the amount of those that count, and the newest result of
 * other sources if these have none.
 */
export function runsOf(tree) {
  return wanted.map(({ isOne, amountOf, countsWithFaults = false, ...run }) => {
    const all = resultsOf(run.folder).filter(({ result }) => isOne(result));
    const results = all.filter((one) => one.tree === tree);
    const counted = results.filter(({ faults }) => countsWithFaults || faults === 0);
    const amount = counted.reduce((sum, { result }) => sum + amountOf(result), 0);
    return { ...run, results, amount, latest: results.length === 0 ? all.at(-1) : undefined };
  });
}

/** Returns the lines of the list between its markers. */
function listOf(tree) {
  const link = ({ file }) => `[${file.split('/').at(-1).slice(0, 15)}](../${file})`;
  const faultsOf = ({ folder }, { faults, measured }) => {
    if (measured) return measured;
    const noun = folder === 'bench' ? 'missed bar' : 'violation';
    return faults === 0 ? 'sound' : `${faults} ${noun}${faults === 1 ? '' : 's'}`;
  };
  const filesOf = (run) => {
    if (run.results.length > 0)
      return run.results.map((one) => `${link(one)}: ${faultsOf(run, one)}`).join('; ');
    if (run.latest === undefined) return 'none yet';
    const { tree: other, commit } = run.latest;
    const sources = other === undefined ? `commit ${commit}` : `tree ${other.slice(0, 10)}`;
    return `none yet; the last of other sources, ${sources}: ${link(run.latest)}, ${faultsOf(run, run.latest)}`;
  };
  const lines = runsOf(tree).map(
    (run) => `- **${run.name}** (\`${run.command.trim()}\`), ${run.amount} of ${run.needed}: ${filesOf(run)}`,
  );
  return [
    `The tree of the sources is \`${tree}\`. Each run, with how many were made of those needed:`,
    '',
    ...lines,
  ];
}

/** Returns the tree that the page names, and the text below its list, which has the causes of failed runs. */
export function readList() {
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin), text.lastIndexOf(end)];
  if (from < 0 || to < from) throw new Error('docs/reliability.md has no markers for the list of runs');
  const list = text.slice(from + begin.length, to).trim();
  return { tree: /`([0-9a-f]{40})`/.exec(list)?.[1], causes: text.slice(to + end.length) };
}

/** Returns the page with the list of these sources. */
export function withList(tree) {
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin), text.lastIndexOf(end)];
  return `${text.slice(0, from)}${begin}\n\n${listOf(tree).join('\n')}\n\n${text.slice(to)}`;
}

/** Returns the failed runs of these sources whose cause is not below the list. */
export function unexplained(tree) {
  const { causes } = readList();
  return runsOf(tree)
    .flatMap(({ results }) => results)
    .filter(({ file, faults }) => faults > 0 && !causes.includes(file))
    .map(({ file }) => file);
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Bench } from './support/bench.js';
import { gitState, machine, versions } from './support/machine.js';
import { simulate } from './simulator/report.js';
import { table } from './support/table.js';
import { outdatedDocuments, writeDocuments } from './support/document.js';
import { scenes } from './scenes/index.js';

const usage = `npm run bench                      all scenes but the long ones
npm run bench -- --scene submit    one, by name or number; may be given several times
npm run bench -- --short           a few scenes for a few seconds; fails on figures that twice miss half a bar
npm run bench -- --long            the ones that take half an hour too
npm run bench -- --rounds 9        of each turn; how long one is, the scene says
npm run bench -- --profile            also shows where the service spent its time
npm run bench -- --list
npm run bench -- --simulate        order and estimates in virtual time, without a server
npm run bench -- --table           writes the figures of bench/results into docs/
npm run bench -- --check           says whether they are there already`;

const say = (text) => process.stdout.write(`${text}\n`);

const { values: options } = parseArgs({
  options: {
    scene: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    simulate: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    table: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});

function chosenScenes() {
  const wanted = options.scene;
  if (wanted === undefined)
    return scenes.filter(({ short, long }) => (options.short ? short : options.long || !long));
  return wanted.map((name) => {
    const found = scenes.find((scene) => scene.name === name || String(scene.number) === name);
    if (found === undefined) throw new Error(`There is no scene ${name}; --list shows them.`);
    return found;
  });
}

/** A scene that waits in vain must not keep the others from running. */
const longestMs = ({ long }) => (long ? 90 : 20) * 60_000;

/** Rejects when the scene takes too long. Its processes then end with it. */
async function withinTime(scene, running) {
  const ended = new AbortController();
  const late = delay(longestMs(scene), undefined, { signal: ended.signal }).then(() => {
    throw new Error(`scene ${scene.number} did not end within ${longestMs(scene) / 60_000} minutes`);
  });
  late.catch(() => undefined);
  return Promise.race([running, late]).finally(() => ended.abort());
}

/** A scene that throws counts as missed, and the next one is played. */
async function play(bench, scene) {
  say(`scene ${scene.number}: ${scene.title}`);
  const started = performance.now();
  bench.beginScene(scene);
  const { number, name, title } = scene;
  const result = (rows) => ({
    number,
    name,
    title,
    turnSeconds: bench.turnSeconds,
    seconds: since(started),
    rows,
  });
  try {
    return result(await withinTime(scene, scene.run(bench)));
  } catch (error) {
    say(error.stack);
    const rows = [
      { figure: 'broke', value: NaN, bar: 'runs', met: false, grossFall: true, note: error.message },
    ];
    return result(rows);
  } finally {
    const profile = await bench.endScene();
    if (profile !== undefined) say(profile);
  }
}

const fallen = ({ rows }) => rows.filter((row) => row.grossFall);

/**
 * Plays a scene of the short form, and once more when it fell grossly: its turns are so short that a shared machine
 * may hold up all of them. Returns every result, and the rows that fell each time.
 */
async function playShort(bench, scene) {
  const first = await play(bench, scene);
  if (fallen(first).length === 0) return { results: [first], fell: [] };
  say(`${table([first])}\n\nscene ${scene.number} fell grossly and is played once more`);
  const second = await play(bench, scene);
  const figures = new Set(fallen(first).map(({ figure }) => figure));
  return { results: [first, second], fell: fallen(second).filter(({ figure }) => figures.has(figure)) };
}

const since = (started) => Math.round((performance.now() - started) / 1_000);

function save(results, bench, { startedAt, git, before }) {
  const directory = new URL('./results/', import.meta.url);
  mkdirSync(directory, { recursive: true });
  const stamp = startedAt.toISOString().slice(0, 19).replaceAll(':', '');
  const file = fileURLToPath(new URL(`${stamp}.json`, directory));
  const report = {
    at: startedAt.toISOString(),
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    rounds: bench.rounds,
    git,
    machine: before,
    versions: versions(bench.postgres.settings),
    scenes: results,
  };
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  return file;
}

async function main() {
  if (options.help) return say(usage);
  if (options.list) {
    for (const { number, name, title, short, long } of scenes) {
      say(
        `${String(number).padStart(2)} ${name.padEnd(12)} ${title}${short ? ' (short)' : ''}${long ? ' (long)' : ''}`,
      );
    }
    return undefined;
  }
  if (options.simulate) return simulate(say);
  if (options.table) return writeDocuments(scenes);
  if (options.check) {
    const outdated = outdatedDocuments(scenes);
    if (outdated.length === 0) return say('The figures of the documentation are those of bench/results.');
    process.exitCode = 1;
    return say(`Not up to date: ${outdated.join(', ')}. npm run bench -- --table writes them.`);
  }
  const chosen = chosenScenes();
  const startedAt = new Date();
  const before = machine();
  // A bench takes hours, and the repository may have other commits by then.
  const git = gitState();
  const bench = await Bench.start({
    short: options.short,
    rounds: Number(options.rounds ?? (options.short ? 2 : 5)),
    profile: options.profile,
  });
  const { fsync, synchronous_commit, server_version } = bench.postgres.settings;
  say(`Node ${process.version}, PostgreSQL ${server_version}, ${before.cores} × ${before.cpu}`);
  say(`fsync ${fsync}, synchronous_commit ${synchronous_commit}; load before: ${before.loadBefore}\n`);
  let stopping = false;
  const interrupted = () => {
    if (stopping) process.exit(130);
    stopping = true;
    void bench.stop().finally(() => process.exit(130));
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  const results = [];
  const falls = [];
  try {
    for (const scene of chosen) {
      const played = options.short
        ? await playShort(bench, scene)
        : { results: [await play(bench, scene)], fell: [] };
      results.push(...played.results);
      falls.push(...played.fell.map(({ figure, bar }) => `scene ${scene.number}: ${figure} (${bar})`));
      say(`${table([played.results.at(-1)])}\n`);
    }
    say(`${table(results)}\n`);
    if (!options.short) say(save(results, bench, { startedAt, git, before }));
  } finally {
    await bench.stop();
  }
  for (const fall of falls) say(`fell grossly twice: ${fall}`);
  process.exitCode = falls.length > 0 ? 1 : 0;
  return undefined;
}

main().then(
  () => process.exit(),
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);

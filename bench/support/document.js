import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { digits } from './table.js';
import { median } from './stats.js';

/*
 * The generated parts of the documentation. They use every file of bench/results.
 */

/** The parts of each page, by the name that its place in the page has. */
const documents = {
  'docs/performance.md': { plan: planFigures, figures: figureTable, runs: runList },
  'docs/sizing.md': { costs: costTable, loads: loadTable, memory: memoryTable, disk: diskTable },
  'docs/scaling.md': { cell: cellTable },
};
const root = new URL('../../', import.meta.url);
const results = new URL('../results/', import.meta.url);

/** @param {Scene[]} scenes */
export function writeDocuments(scenes) {
  for (const [page, text] of generated(scenes)) writeFileSync(new URL(page, root), text);
}

/**
 * Returns the pages whose figures are not those of the results.
 * @param {Scene[]} scenes
 */
export function outdatedDocuments(scenes) {
  return generated(scenes)
    .filter(([page, text]) => text !== readFileSync(new URL(page, root), 'utf8'))
    .map(([page]) => page);
}

function generated(scenes) {
  const files = readResults();
  return Object.entries(documents).map(([page, parts]) => {
    let text = readFileSync(new URL(page, root), 'utf8');
    for (const [name, partOf] of Object.entries(parts)) {
      const place = new RegExp(`(<!-- ${name}: generated -->\n)[^]*?(<!-- /${name} -->)`);
      if (!place.test(text)) throw new Error(`${page} has no place for its ${name}`);
      text = text.replace(place, (_, before, after) => `${before}\n${partOf(files, scenes)}\n\n${after}`);
    }
    return [page, text];
  });
}

/** Returns the results, the newest first. */
function readResults() {
  const names = readdirSync(results).filter((name) => name.endsWith('.json'));
  return names
    .sort()
    .reverse()
    .map((name) => ({ name, ...JSON.parse(readFileSync(new URL(name, results), 'utf8')) }));
}

/** The rows of a scene in all files, grouped by figure. */
function figuresOf(number, files) {
  const figures = new Map();
  for (const { scenes } of files) {
    const seen = new Map();
    for (const row of scenes.find((scene) => scene.number === number)?.rows ?? []) {
      const name = `${row.figure} ${row.against ?? ''}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      const key = `${name} ${seen.get(name)}`;
      figures.set(key, [...(figures.get(key) ?? []), row]);
    }
  }
  return [...figures.values()];
}

function figureTable(files, scenes) {
  const lines = scenes.flatMap(({ number, title }) => {
    const shown = withWorstOfMany(figuresOf(number, files).filter(([row]) => isShown(row)));
    const rows = shown.length > 0 ? shown.map(cells) : [['not measured yet', '', '']];
    return rows.map((row, i) => [i === 0 ? `**${number}** ${title}` : '', ...row]);
  });
  return tableOf(['scene', 'figure', 'value', 'bar'], lines);
}

/** Rows with a bar are shown, and so are tails, whatever they say. */
function isShown({ bar, shown, figure }) {
  return Boolean(bar ?? shown) || /p99|model_stats/.test(figure);
}

/** Shows only the worst of more than five tails that always met the same bar. */
function withWorstOfMany(figures) {
  const isTail = ([{ figure, against }]) => figure.startsWith('p99 ms, ') && against === undefined;
  const met = figures.filter((rows) => isTail(rows) && rows.every((row) => row.bar && row.met !== false));
  if (met.length <= 5 || new Set(met.map(([{ bar }]) => bar)).size > 1) return figures;
  const height = (rows) => median(rows.map(({ value }) => value));
  const worst = met.reduce((one, other) => (height(other) > height(one) ? other : one));
  const label = ({ figure }) => figure.replace('p99 ms, ', `p99 ms, the worst of ${met.length}: `);
  return figures
    .filter((rows) => rows === worst || !met.includes(rows))
    .map((rows) => (rows === worst ? rows.map((row) => ({ ...row, figure: label(row) })) : rows));
}

function cells(rows) {
  const [{ figure, against, error, bar: whole = '', value: newest }] = rows;
  if (newest === null) return [`**${figure}**`, '', ''];
  const bar = whole.replace(' ×', '');
  const missed = rows.filter(({ met }) => met === false).length;
  const runs = rows.length === 1 || missed === 0 ? '' : ` (${missed} of ${rows.length} missed)`;
  const bold = (text) => (missed * 2 > rows.length ? `**${text}**` : text);
  if (bar === 'holds') return [figure, bold(missed === 0 ? 'holds' : 'does not hold') + runs, ''];
  if (against === undefined) return [figure, bold(spread(rows, 'value')) + runs, bar];
  const value = digits(median(rows.map((row) => row.value)));
  const within = rows.length === 1 && bar && error ? ` ± ${error.toFixed(2)}` : '';
  return [figure, `${value}: ${bold(`${spread(rows, 'ratio')} ×`)}${within} ${against}${runs}`, bar];
}

/** The median of all runs, and their range. */
function spread(rows, field) {
  const values = rows.map((row) => row[field] ?? NaN);
  const write = field === 'ratio' ? (value) => value.toFixed(2) : digits;
  const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)].map(write);
  return low === high ? middle : `${middle} (${low}–${high})`;
}

/** Figures for planning, of the deployed set-up where it was measured. */
function planFigures(files) {
  const first = (numbers, figure, digitsOf = rounded) => {
    for (const number of numbers) {
      const rows = figuresOf(number, files).find(([row]) => figure.test(row.figure));
      if (rows !== undefined) return { number, text: digitsOf(median(rows.map(({ value }) => value))) };
    }
    return { number: numbers[0], text: '–' };
  };
  const submits = first([17, 1], /^submits\/s/);
  const statuses = first([18, 3], /^status(es)?\/s/);
  const messages = first([10], /^messages\/s/);
  const cores = first([10], /^cores in all/, digits);
  const memory = first([10], /^KiB/, digits);
  const { cores: count, cpu, memoryGiB } = files[0].machine;
  return [
    `On ${count} cores (${cpu}, ${memoryGiB} GiB), which the load uses too:\n`,
    `- **${submits.text} submissions a second**, each on disk before it is answered (scene ${submits.number})`,
    `- **${statuses.text} statuses a second** (scene ${statuses.number})`,
    `- **10,000 open streams** on one process, ${memory.text} KiB each; ${messages.text} messages a second take ${cores.text} of a core (scene 10)`,
  ].join('\n');
}

function runList(files) {
  const places = new Map();
  for (const { name, git, versions, machine } of files) {
    const { node, postgres } = versions;
    const place = `${machine.cores} × ${machine.cpu}, Node ${node}, PostgreSQL ${postgres.server_version}`;
    const run = `${basename(name, '.json')} at ${git.commit?.slice(0, 7)}${git.changed ? ' and changes' : ''}`;
    places.set(place, [...(places.get(place) ?? []), run]);
  }
  return [...places].map(([place, runs]) => `- ${place}: ${runs.join(', ')}`).join('\n');
}

/**
 * What docs/sizing.md counts. `side`: `base` is what the scene compares with, which is the service as well. The first
 * three are what a request consists of.
 */
const work = [
  { name: 'a submission', number: 17, figure: 'a submit' },
  { name: 'a status', number: 18, figure: 'a status' },
  {
    name: 'a run by a server, from its claim until its end is on disk',
    number: 32,
    figure: 'a job',
    side: 'base',
  },
  { name: 'a run by a worker', number: 32, figure: 'a job' },
  { name: 'a submission with 64 KiB of input', number: 2, figure: 'a submit' },
  {
    name: 'a webhook, with two runs of a model that does nothing',
    number: 26,
    figure: 'a delivery, beside one that refuses',
    side: 'base',
  },
];
/** Statuses that a caller reads of a request, in the examples. */
const polls = 3;

function costsOf(files) {
  return work.map(({ name, number, figure, side = 'value' }) => {
    const [node, postgres] = ['Node', 'PostgreSQL'].map((part) =>
      measured(files, number, `CPU µs ${figure}, ${part}`, side),
    );
    return { name, number, node, postgres };
  });
}

/** The work of a request that is submitted, polled and run by a server. */
function requestCost(files) {
  const [submission, status, run] = costsOf(files);
  const sum = (part) => submission[part] + polls * status[part] + run[part];
  return { node: sum('node'), postgres: sum('postgres') };
}

function costTable(files) {
  const request = requestCost(files);
  const lines = costsOf(files).map(({ name, number, node, postgres }) => [
    name,
    digits(node),
    digits(postgres),
    number,
  ]);
  const sums = [request.node, request.postgres].map((sum) => `**${digits(sum)}**`);
  const whole = [`**a request with ${polls} statuses, run by a server**`, ...sums, ''];
  return tableOf(['work', 'µs of a core, service', 'µs of a core, PostgreSQL', 'scene'], [...lines, whole]);
}

/** Cores for some loads, if they are to be busy half of the time. */
function loadTable(files) {
  const { node, postgres } = requestCost(files);
  const lines = [10, 100, 1_000].map((perSecond) => {
    const cores = [node, postgres].map((cost) =>
      String(Number(((2 * perSecond * cost) / 1e6).toPrecision(2))),
    );
    return [perSecond.toLocaleString('en'), (perSecond * 86_400).toLocaleString('en'), ...cores];
  });
  return tableOf(['requests a second', 'a day', 'cores, service', 'cores, PostgreSQL'], lines);
}

function memoryTable(files) {
  return tableOf(
    ['what', 'KiB each', 'scene'],
    [
      ['an open stream', digits(measured(files, 10, 'KiB of memory a stream')), 10],
      ['a held call (`Prefer: wait`)', digits(measured(files, 21, 'KiB of memory a held call')), 21],
      ['an idle worker', digits(measured(files, 32, 'KiB of memory an idle worker')), 32],
    ],
  );
}

function diskTable(files) {
  return tableOf(
    ['load', 'KiB of WAL a request, without its payload', 'scene'],
    [
      ['one request at a time', digits(measured(files, 13, 'KiB, one at a time')), 13],
      ['32 connections', digits(measured(files, 13, 'KiB, 32 connections')), 13],
    ],
  );
}

function cellTable(files) {
  const figure = (...args) => rounded(measured(files, ...args));
  const perCore = rounded(1e6 / requestCost(files).postgres);
  const million = digits(measured(files, 4, 'median ms at 1,000,000 waiting'));
  const hundred = digits(measured(files, 4, 'median ms at 1,000,000 waiting', 'base'));
  return tableOf(
    ['what', 'measured', 'scene'],
    [
      ['submissions a second', figure(17, 'submits/s'), 17],
      ['statuses a second', figure(18, 'statuses/s'), 18],
      ['runs by servers a second', figure(32, 'jobs/s', 'base'), 32],
      ['runs by workers a second', figure(32, 'jobs/s'), 32],
      ['requests a second by a batch', figure(39, 'requests/s, by a batch'), 39],
      ['waiting requests', `1,000,000: a claim takes ${million} ms (at 100: ${hundred} ms)`, 4],
      [
        'finished requests',
        `10,000,000: ${figure(15, 'submits/s without history', 'base')} submissions a second`,
        15,
      ],
      ['days of history', `365: ${figure(37, 'statuses/s, 365 days')} statuses a second`, 37],
      ['open streams of a process', '10,000', 10],
      [
        'requests a second for a core of PostgreSQL that does nothing else',
        `${perCore}, computed from the [costs](sizing.md#cores)`,
        '',
      ],
    ],
  );
}

/** Returns the median of a figure over all runs, or of what it was compared with. */
function measured(files, number, name, side = 'value') {
  const rows = figuresOf(number, files).find(([row]) => row.figure === name);
  if (rows === undefined) throw new Error(`Scene ${number} has no figure "${name}"`);
  return median(rows.map((row) => row[side]));
}

function rounded(value) {
  return Math.round(Number(value.toPrecision(2))).toLocaleString('en');
}

function tableOf(head, lines) {
  return ['<!-- prettier-ignore -->', ...[head, head.map(() => '-'), ...lines].map(tableLine)].join('\n');
}

function tableLine(columns) {
  return `|${columns.join('|')}|`;
}

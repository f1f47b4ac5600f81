import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { digits } from './table.js';
import { median } from './stats.js';

/*
 * The generated parts of docs/performance.md. They use every file of bench/results.
 */

const document = new URL('../../docs/performance.md', import.meta.url);
const results = new URL('../results/', import.meta.url);

/** @param {Scene[]} scenes */
export function writeDocument(scenes) {
  const text = generated(scenes);
  writeFileSync(document, text);
  return `docs/performance.md: ${Buffer.byteLength(text)} bytes`;
}

/** @param {Scene[]} scenes */
export function documentIsUpToDate(scenes) {
  return generated(scenes) === readFileSync(document, 'utf8');
}

function generated(scenes) {
  const files = readResults();
  const parts = { plan: planFigures(files), figures: figureTable(scenes, files), runs: runList(files) };
  let text = readFileSync(document, 'utf8');
  for (const [name, part] of Object.entries(parts)) {
    const place = new RegExp(`(<!-- ${name}: generated -->\n)[^]*?(<!-- /${name} -->)`);
    if (!place.test(text)) throw new Error(`docs/performance.md has no place for its ${name}`);
    text = text.replace(place, (_, before, after) => `${before}\n${part}\n\n${after}`);
  }
  return text;
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

function figureTable(scenes, files) {
  const lines = scenes.flatMap(({ number, title }) => {
    const shown = figuresOf(number, files).filter(([row]) => isShown(row));
    const rows = shown.length > 0 ? shown.map(cells) : [['not measured yet', '', '']];
    return rows.map((row, i) => [i === 0 ? `**${number}** ${title}` : '', ...row]);
  });
  const head = ['scene', 'figure', 'value', 'bar'];
  return ['<!-- prettier-ignore -->', ...[head, head.map(() => '-'), ...lines].map(tableLine)].join('\n');
}

/** Rows with a bar are shown, and so are tails, whatever they say. */
function isShown({ bar, shown, figure }) {
  return Boolean(bar ?? shown) || /p99|model_stats/.test(figure);
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

function rounded(value) {
  return Math.round(Number(value.toPrecision(2))).toLocaleString('en');
}

function tableLine(columns) {
  return `|${columns.join('|')}|`;
}

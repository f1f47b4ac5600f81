import { buildIfStale } from '../../scripts/build.js';
import { digits } from '../support/table.js';
import { judgeEstimates } from './estimate-judge.js';
import { orderScenes, playOrder } from './order-scenes.js';
import { workloads } from './workloads.js';

const seed = 1;
const parts = ['waiting/waiting-index.js', 'waiting/fair-queue.js', 'estimates/model-estimates.js'];

/** The order and the estimates of the service as it is built now. */
async function product() {
  buildIfStale();
  const modules = parts.map((path) => import(new URL(`../../dist/src/queue/${path}`, import.meta.url)));
  return Object.assign({}, ...(await Promise.all(modules)));
}

const atMost = (bar) => (value) => value <= bar;
const atLeast = (bar) => (value) => value === undefined || value >= bar;

const orderColumns = {
  'Jain, any 1,000 starts*': [({ jain }) => jain, atLeast(0.98), '≥ 0.98'],
  "newcomer's wait**": [({ longestNewcomer }) => longestNewcomer, atMost(1), '≤ 1'],
  'longest pause***': [({ longestPause }) => longestPause, atMost(2), '≤ 2'],
  starts: [({ starts }) => starts],
  newcomers: [({ newcomers }) => newcomers],
};
const orderNotes = `*   lowest of all windows, of the keys that always have work, by their weights; longer where a key would have had
    fewer than ten starts
**  longest of all, as a part of keys with work ÷ slots + 2 rounds
*** longest of a key with work between two turns, as a part of two turns of each other key + 2 rounds`;

const estimateColumns = {
  'holds the start': [({ holds }) => holds, atLeast(0.8), '≥ 0.8'],
  'off by': [({ error }) => error, atMost(0.2), '≤ 0.2'],
  'position × mean ÷ slots': [({ plain }) => plain],
  width: [({ width }) => width],
  'holds the end': [({ holdsEnd }) => holdsEnd],
  estimates: [({ looks }) => looks],
  absent: [({ absent }) => absent],
};
const estimateNotes = `Each request counts the same, of the estimates every five seconds of its wait. Off by: of the middle, at the median,
as a part of what was still to be waited; beside it the same of the plain rule. Width: of the interval, as a part of it.`;

/** @param {(text: string) => void} say */
export async function simulate(say) {
  const code = await product();
  const missed = [];
  const tell = (title, columns, played) => {
    const cells = Object.entries(columns).map(([name, [figure, isMet, bar]]) => {
      const value = figure(played);
      const met = isMet?.(value) ?? true;
      if (!met) missed.push(`${title}: ${name} ${digits(value)}, ${bar}`);
      return `${value === undefined ? '–' : digits(value)}${met ? '' : ' (!)'}`.padEnd(name.length + 2);
    });
    say(`${title.padEnd(64)}${cells.join('')}`.trimEnd());
  };
  const head = (title, columns) =>
    say(
      `\n${title.padEnd(64)}${Object.keys(columns)
        .map((name) => `${name}  `)
        .join('')}`,
    );

  head('order: three nodes, messages of 25 to 250 ms', orderColumns);
  for (const [name, scene] of Object.entries(orderScenes))
    for (const slots of scene.slots ?? [1, 10, 100, 1_000])
      tell(`${name}, ${slots} slots`, orderColumns, playOrder(code, scene, { seed, slots }));
  say(orderNotes);
  head('estimates: an hour each', estimateColumns);
  for (const [name, workload] of Object.entries(workloads))
    tell(name, estimateColumns, judgeEstimates(code, workload, { seed }));
  say(estimateNotes);
  say(missed.length === 0 ? '\nEvery bar is met.' : `\nMissed:\n${missed.join('\n')}`);
}

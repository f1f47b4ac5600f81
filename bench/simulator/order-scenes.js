import { Fleet } from './fleet.js';
import { Jain, Turns } from './order-measures.js';
import { Random } from './random.js';

const heavyTailed = { batch: (random) => random.heavyTailed(1_000), meanBatch: 6 };
const weightOf = (key) => [0.5, 1, 2, 4][key % 4];
const isBusy = (key) => key <= 100;

/** Keys that submit a thousand requests beside their others, and cancel all that they have, again and again. */
const cancelThousands = (fleet, keys, submission, depth) => {
  const { agenda, random, slots } = fleet;
  const pauseMs = () => (random.between(50, 500) * 1_000) / slots;
  for (const key of keys.filter((one) => one % 2 === 0)) {
    const written = () =>
      agenda.in(pauseMs(), () => {
        fleet.cancel(fleet.table.of(key));
        // After every node knows of it.
        agenda.in(500, () => fleet.submit({ ...submission(key), count: depth(slots, key) }));
        agenda.in(500 + pauseMs(), again);
      });
    const again = () => fleet.submit({ ...submission(key), count: 1_000, written });
    agenda.in(pauseMs(), again);
  }
};

/**
 * Some keys always have work, and others come and go among them.
 * - busy: number of keys that always have work; others: number of keys that come and go
 * - load: fraction of the slots that the others would use; batch: requests that one submits at once
 * - cancels: how often a batch is cancelled; depth: waiting requests of a busy key; of: options of a key's submissions
 */
export const orderScenes = {
  'ones among busy keys': { busy: 100, others: 9_900 },
  'heavy-tailed batches': { busy: 100, others: 9_900, ...heavyTailed },
  'a batch of 10,000 and singles': {
    busy: 20,
    others: 9_980,
    depth: (slots, key) => (key === 1 ? 10_000 : 3 + Math.ceil((3 * slots) / 20)),
  },
  'weights of 0.5 to 4': {
    busy: 100,
    others: 9_900,
    of: (key) => ({ weight: isBusy(key) ? weightOf(key) : 1 }),
  },
  'three priorities': {
    busy: 100,
    others: 9_900,
    load: 0.6,
    of: (key) => ({ priority: isBusy(key) ? 0 : (key % 3) - 2 }),
  },
  'batches that are cancelled': { busy: 100, others: 9_900, ...heavyTailed, cancels: 0.5 },
  'keys that cancel all they have': {
    busy: 20,
    others: 500,
    slots: [1, 10],
    trouble: cancelThousands,
  },
  'each key at one node': {
    busy: 100,
    others: 9_900,
    of: (key, fleet) => ({ node: fleet.nodes[key % 3] }),
  },
  'half of the keys at one node each': {
    busy: 100,
    others: 9_900,
    of: (key, fleet) => (key % 2 === 0 ? { node: fleet.nodes[key % 3] } : {}),
  },
  'bursts without busy keys': { busy: 0, others: 10_000, load: 0.9, ...heavyTailed },
  '10,000 keys with work': { busy: 10_000, depth: () => 2, leastStarts: 5, slots: [1_000], windows: 2 },
};

/** The key whose requests fill the slots before any key competes for them. */
const filler = 2_000_000;

/**
 * Plays until a key that always has work has had its `leastStarts` in several windows.
 * @param {import('./fleet.js').Order} order the product's order
 */
export function playOrder(order, scene, { seed, slots, lateMs = [25, 250], windows = scene.windows ?? 6 }) {
  const { busy, others = 0, load = 0.5, batch = () => 1, meanBatch = 1, cancels = 0 } = scene;
  // Enough that no key runs out of work while a message is under way.
  const { leastStarts = 10, depth = () => 3 + Math.ceil((3 * slots) / Math.max(1, busy)) } = scene;
  const random = new Random(seed);
  const fleet = new Fleet({ order, random, slots, lateMs });
  const runMs = () => random.logNormal(1_000, 1);
  const submission = (key) => ({ key, runMs, ...scene.of?.(key, fleet) });
  const keys = Array.from({ length: busy }, (_, i) => i + 1);
  const weights = new Map(keys.map((key) => [key, submission(key).weight ?? 1]));
  const shares = [...weights.values()];
  const window = Math.max(
    1_000,
    Math.ceil((leastStarts * shares.reduce((a, b) => a + b, 0)) / Math.min(1, ...shares)),
  );
  const warmUp = 3 * slots + 2 * busy;
  // In the first quarter of a second the nodes do not know of the keys' first requests.
  const warmUpOfBusy = warmUp + 3 * busy * depth(slots, 2);
  const jain = new Jain(weights, window);
  const turns = new Map();
  const turnsOf = ({ priority }) => {
    if (!turns.has(priority)) turns.set(priority, new Turns(fleet, warmUp));
    return turns.get(priority);
  };
  const again = new Map();
  fleet.onWritten = (requests) => requests.forEach((request) => turnsOf(request).written(request));
  fleet.onCancelled = (requests) => requests.forEach((request) => turnsOf(request).cancelled(request));
  fleet.onStart = (request) => {
    turnsOf(request).started(request);
    if (fleet.starts > warmUpOfBusy) jain.started(request.key);
    again.get(request.key)?.();
  };

  fleet.submit({ key: filler, runMs, count: 2 * slots });
  fleet.agenda.run(500);
  for (const key of keys) {
    fleet.submit({ ...submission(key), count: depth(slots, key) });
    again.set(key, () => fleet.submit(submission(key)));
  }
  const everyMs = (1_000 * meanBatch) / (slots * load);
  const arrive = () => {
    const key = 1_000_000 + random.below(others);
    const written = (requests) => {
      if (random.next() < cancels) fleet.agenda.in(random.between(100, 20_000), () => fleet.cancel(requests));
    };
    fleet.submit({ ...submission(key), count: batch(random), written });
    fleet.agenda.in(random.exponential(everyMs), arrive);
  };
  if (others > 0) arrive();
  scene.trouble?.(fleet, keys, submission, depth);
  const starts = warmUpOfBusy + (windows * window) / (others > 0 ? 1 - load / 2 : 1);
  while (fleet.starts < starts) fleet.agenda.run(fleet.agenda.now + 500);
  for (const one of turns.values()) one.close();

  const all = [...turns.values()];
  const highest = (figure) => Math.max(0, ...all.map((one) => one[figure]));
  return {
    jain: jain.windows === 0 ? undefined : jain.lowest,
    window,
    newcomers: all.reduce((sum, { newcomers }) => sum + newcomers, 0) - busy,
    longestNewcomer: highest('longestNewcomer'),
    longestPause: highest('longestPause'),
    starts: fleet.starts,
  };
}

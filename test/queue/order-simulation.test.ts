import { judgeEstimates } from '../../bench/simulator/estimate-judge.js';
import { orderScenes, playOrder } from '../../bench/simulator/order-scenes.js';
import { workloads } from '../../bench/simulator/workloads.js';
import { ModelEstimates } from '../../src/queue/estimates/model-estimates.js';
import { ticksFor } from '../../src/queue/waiting/fair-queue.js';
import { WaitingIndex } from '../../src/queue/waiting/waiting-index.js';

/* `npm run bench -- --simulate` plays all of it, and for longer. */
const product = { WaitingIndex, ticksFor, ModelEstimates };
const seed = 1;

describe('with three nodes whose messages are late', () => {
  it.each([
    ['ones among busy keys', 10],
    ['three priorities', 100],
    ['half of the keys at one node each', 100],
  ])('busy keys share the slots fairly, and new keys soon get a turn: %s, %i slots', (name, slots) => {
    const played = playOrder(product, orderScenes[name]!, { seed, slots, windows: 2 });
    expect(played.jain).toBeGreaterThanOrEqual(0.98);
    expect(played.newcomers).toBeGreaterThan(500);
    expect(played.longestNewcomer).toBeLessThanOrEqual(1);
    expect(played.longestPause).toBeLessThanOrEqual(2);
  });

  it.each(['steady', 'runs of one length', 'newcomers before a batch'])(
    'an estimate contains the start of eight in ten requests, with an error of at most a fifth: %s',
    (name) => {
      const judged = judgeEstimates(product, workloads[name]!, { seed, untilMs: 1_200_000 });
      expect(judged.looks).toBeGreaterThan(1_000);
      expect(judged.holds).toBeGreaterThanOrEqual(0.8);
      expect(judged.holdsEnd).toBeGreaterThanOrEqual(0.8);
      expect(judged.error).toBeLessThanOrEqual(0.2);
    },
  );
});

import { plainRow, promiseRow, ratioRow } from '../support/rows.js';
import { percentile } from '../support/stats.js';
import { startsPerSecond, watchedQueue } from '../support/watched-queue.js';

export const scene = {
  number: 21,
  name: 'held-calls',
  title: `held calls, ${startsPerSecond} requests/s start`,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 1_000 : 5_000;
    const seconds = bench.short ? 10 : 60;
    const streams = await watchedQueue(bench, { count, seconds, watcher: 'stream-client' });
    const held = await watchedQueue(bench, {
      count,
      seconds,
      watcher: 'held-client',
      states: ['COMPLETED'],
    });
    const { delays, missed, broken, messages, eachKiB, cores } = held;
    return [
      promiseRow(
        `every completion answers one of ${count.toLocaleString('en')} held calls`,
        missed + broken === 0,
        `${delays.length} answered, ${missed} missed, ${broken} broken`,
      ),
      plainRow('p99 ms from commit to client', percentile(delays, 99), { most: 250 }),
      ratioRow('KiB of memory a held call', eachKiB, 'a stream', streams.eachKiB, { most: 1 }),
      ratioRow('cores in all', cores, 'as many streams', streams.cores, { most: 1 }),
      plainRow('answers/s', messages / seconds),
    ];
  },
};

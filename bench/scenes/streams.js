import { plainRow, promiseRow } from '../support/rows.js';
import { percentile } from '../support/stats.js';
import { startsPerSecond, watchedQueue } from '../support/watched-queue.js';

export const scene = {
  number: 10,
  name: 'streams',
  title: `open streams, ${startsPerSecond} requests/s start`,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 1_000 : 10_000;
    const seconds = bench.short ? 10 : 60;
    const without = await watchedQueue(bench, { count, seconds });
    const withStreams = await watchedQueue(bench, { count, seconds, watcher: 'stream-client' });
    const { delays, missed, broken, messages, eachKiB } = withStreams;
    return [
      promiseRow(
        `every transition sent to ${count.toLocaleString('en')} streams`,
        missed + broken === 0,
        `${delays.length} sent, ${missed} missed, ${broken} broken`,
      ),
      plainRow('p99 ms from commit to client', percentile(delays, 99), { most: 250 }),
      plainRow('KiB of memory a stream', eachKiB, { most: 40 }),
      plainRow('cores for positions and transitions', withStreams.cores - without.cores, { most: 0.25 }),
      plainRow('cores in all', withStreams.cores),
      plainRow('messages/s', messages / seconds),
    ];
  },
};

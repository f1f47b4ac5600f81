import { Logger, run } from 'graphile-worker';
import pg from 'pg';

/** Completes jobs in batches of LIMIT until COUNT have passed or SECONDS are over. Prints how long each fetch took. */
const times = [];
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function timed(...args) {
  const text = typeof args[0] === 'string' ? args[0] : args[0]?.text;
  const result = query.apply(this, args);
  if (/skip locked/i.test(text ?? '') && typeof result?.then === 'function') {
    const started = performance.now();
    void result.then(
      ({ rowCount }) => {
        if (rowCount > 1) times.push(performance.now() - started);
      },
      () => undefined,
    );
  }
  return result;
};

const size = Number(process.env.LIMIT);
const pgPool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 });
const runner = await run({
  pgPool,
  logger: new Logger(() => () => undefined),
  noHandleSignals: true,
  taskList: { bench: () => undefined },
  preset: { worker: { concurrentJobs: 1, maxPoolSize: 4, localQueue: { size }, completeJobBatchDelay: 0 } },
});
process.stdout.write('listening on http://nowhere\n');
process.once('SIGTERM', () => process.exit(0));

const deadline = performance.now() + Number(process.env.SECONDS) * 1_000;
const watch = setInterval(() => {
  if (times.length * size < Number(process.env.COUNT) * 0.99 && performance.now() < deadline) return;
  clearInterval(watch);
  process.send({ times });
  void runner.stop().catch(() => undefined);
}, 100);
setInterval(() => undefined, 60_000);

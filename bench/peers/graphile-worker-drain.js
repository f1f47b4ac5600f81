import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';

/** Fills the queue (FILL=count) and ends, or completes its jobs: MODE=plain or batched. */
const logger = new Logger(() => () => undefined);
const pgPool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 12 });

if (process.env.FILL !== undefined) {
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  for (let left = Number(process.env.FILL); left > 0; left -= 20_000) {
    await pgPool.query(
      `SELECT graphile_worker.add_jobs(array_agg(json_populate_record(NULL::graphile_worker.job_spec,
         json_build_object('identifier', 'bench', 'payload', $2::json))))
       FROM generate_series(1, $1::integer)`,
      [Math.min(left, 20_000), process.env.INPUT],
    );
  }
} else {
  const batches = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  let started = false;
  const bench = () => {
    if (!started) process.send({ firstAtMs: Number(process.hrtime.bigint()) / 1e6 });
    started = true;
  };
  await run({
    pgPool,
    logger,
    noHandleSignals: true,
    taskList: { bench },
    preset: {
      worker: { concurrentJobs: 24, maxPoolSize: 12, ...(process.env.MODE === 'batched' ? batches : {}) },
    },
  });
}
process.stdout.write('listening on http://nowhere\n');
process.once('SIGTERM', () => process.exit(0));
setInterval(() => undefined, 60_000);

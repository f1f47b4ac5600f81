import { PgBoss } from 'pg-boss';

/** Fills the queue (FILL=count) and ends, or completes its jobs in batches, at its best. */
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 10 });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();
await boss.createQueue('bench');

if (process.env.FILL !== undefined) {
  const input = JSON.parse(process.env.INPUT);
  for (let left = Number(process.env.FILL); left > 0; left -= 5_000) {
    await boss.insert(
      'bench',
      Array.from({ length: Math.min(left, 5_000) }, () => ({ data: input })),
    );
  }
} else {
  const options = {
    batchSize: 1_000,
    localConcurrency: 2,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
  };
  if (process.env.MODE === 'outputs') {
    const handler = (jobs) =>
      Promise.resolve(jobs.map(({ id, data }) => ({ id, status: 'completed', output: data })));
    await boss.work('bench', { ...options, perJobResults: true }, handler);
  } else {
    await boss.work('bench', options, () => Promise.resolve());
  }
}
process.stdout.write('listening on http://nowhere\n');
process.once('SIGTERM', () => process.exit(0));
setInterval(() => undefined, 60_000);

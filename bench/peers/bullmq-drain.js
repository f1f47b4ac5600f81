import { Queue, Worker } from 'bullmq';
import { connect } from './bullmq-store.js';

/** Fills the queue (FILL=count) and ends, or completes COUNT jobs and sends how long that took. */
const { FILL, COUNT, INPUT } = process.env;

if (FILL !== undefined) {
  const queue = new Queue('drain', { connection: connect() });
  await queue.obliterate({ force: true });
  const data = JSON.parse(INPUT);
  for (let left = Number(FILL); left > 0; left -= 1_000)
    await queue.addBulk(Array.from({ length: Math.min(left, 1_000) }, () => ({ name: 'run', data })));
} else {
  let left = Number(COUNT);
  let startedAt;
  const work = async () => void (startedAt ??= performance.now());
  const worker = new Worker('drain', work, { connection: connect(), concurrency: 64 });
  worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  worker.on('completed', () => {
    if (--left === 0) process.send({ seconds: (performance.now() - startedAt) / 1_000 });
  });
}
process.stdout.write('listening on http://nowhere\n');
process.once('SIGTERM', () => process.exit(0));
setInterval(() => undefined, 60_000);

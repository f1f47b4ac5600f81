import { PgBoss } from 'pg-boss';

/** Fetches and completes until COUNT have passed or SECONDS are over. Prints how long each fetch took. */
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 4 });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();
process.stdout.write('listening on http://nowhere\n');
process.once('SIGTERM', () => process.exit(0));

const batchSize = Number(process.env.LIMIT);
const deadline = performance.now() + Number(process.env.SECONDS) * 1_000;
const times = [];
for (
  let passed = 0;
  passed < Number(process.env.COUNT) && performance.now() < deadline;
  passed += batchSize
) {
  const started = performance.now();
  const jobs = await boss.fetch('bench', { batchSize });
  times.push(performance.now() - started);
  await boss.complete(
    'bench',
    jobs.map(({ id }) => id),
  );
}
process.send({ times });
setInterval(() => undefined, 60_000);

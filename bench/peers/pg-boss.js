import { PgBoss } from 'pg-boss';
import { callModel } from './call-model.js';
import { listen } from './express-app.js';

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 10, useListenNotify: true });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();
await boss.createQueue('bench', { notify: true });

if (process.env.WORK === 'on') {
  await boss.work('bench', { batchSize: 1, localConcurrency: 4, pollingIntervalSeconds: 0.5 }, callModel);
}

listen({ submit: (input) => boss.send('bench', input) });

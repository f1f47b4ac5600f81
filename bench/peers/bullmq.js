import { Queue, Worker } from 'bullmq';
import { connect } from './bullmq-store.js';
import { callModel } from './call-model.js';
import { listen } from './express-app.js';

const queue = new Queue('bench', { connection: connect() });
await queue.waitUntilReady();

if (process.env.WORK === 'on') {
  const worker = new Worker('bench', callModel, { connection: connect(), concurrency: 64 });
  worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  await worker.waitUntilReady();
}

listen({ submit: async (input) => (await queue.add('run', input)).id });

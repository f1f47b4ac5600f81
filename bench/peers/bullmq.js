import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { callModel } from './call-model.js';
import { listen } from './express-app.js';

const connect = () => new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue('bench', { connection: connect() });

if (process.env.WORK === 'on') {
  const worker = new Worker('bench', callModel, { connection: connect(), concurrency: 64 });
  worker.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  await worker.waitUntilReady();
}

listen({ submit: async (input) => (await queue.add('run', input)).id });

import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { callModel } from './call-model.js';
import { listen } from './express-app.js';

const logger = new Logger(() => () => undefined);
const pgPool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const utils = await makeWorkerUtils({ pgPool, logger });
await utils.migrate();

if (process.env.WORK === 'on') {
  const taskList = { bench: () => callModel() };
  await run({ pgPool, logger, taskList, concurrency: 8, noHandleSignals: true });
}

listen({ submit: async (input) => String((await utils.addJob('bench', input)).id) });

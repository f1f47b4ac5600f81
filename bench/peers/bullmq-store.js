import { createPostgresBackend, setDefaultBackendFactory } from 'bullmq';
import { Redis } from 'ioredis';

const { DATABASE_URL, REDIS_URL } = process.env;
if (DATABASE_URL !== undefined) setDefaultBackendFactory(createPostgresBackend);

/** A connection for a queue or a worker: to PostgreSQL if DATABASE_URL is set, else to Redis. */
export const connect = () =>
  DATABASE_URL === undefined
    ? new Redis(REDIS_URL, { maxRetriesPerRequest: null })
    : { connectionString: DATABASE_URL, max: 10, migrate: true };

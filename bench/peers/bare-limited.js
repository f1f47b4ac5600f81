import { Redis } from 'ioredis';
import pg from 'pg';
import { RateLimiterPostgres, RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible';
import { status, submit } from './bare-store.js';
import { listen } from './express-app.js';

/**
 * The floor with the limits that the service ships: a second's and a minute's window for each caller. It runs at its
 * best, because the counts need not survive a crash: PostgreSQL commits them without waiting for its disk, and Redis
 * keeps none.
 */
const limits = { submit: [10, 100], other: [100, 1_800] };
const make = process.env.LIMITS === 'redis' ? inRedis() : inPostgres();

async function limiterOf(name) {
  const [second, minute] = limits[name];
  return new RateLimiterUnion(
    await make(`${name}_second`, second, 1),
    await make(`${name}_minute`, minute, 60),
  );
}

function inRedis() {
  const storeClient = new Redis(process.env.REDIS_URL);
  return (keyPrefix, points, duration) =>
    Promise.resolve(new RateLimiterRedis({ storeClient, keyPrefix, points, duration }));
}

function inPostgres() {
  const storeClient = new pg.Pool({
    connectionString: process.env.DATABASE_URL,
    options: '-c synchronous_commit=off',
    max: 10,
    idleTimeoutMillis: 60_000,
  });
  return (keyPrefix, points, duration) =>
    new Promise((resolve, reject) => {
      const options = { storeClient, keyPrefix, points, duration };
      const limiter = new RateLimiterPostgres(options, (error) => (error ? reject(error) : resolve(limiter)));
    });
}

const limiters = { POST: await limiterOf('submit'), GET: await limiterOf('other') };

/** Admits by key, or by the address that the proxy saw. */
async function admit(request, response, next) {
  const caller = request.get('authorization') ?? request.get('x-forwarded-for');
  try {
    await limiters[request.method].consume(caller);
  } catch (refused) {
    response.status(refused instanceof Error ? 500 : 403).end();
    return;
  }
  next();
}

listen({ submit, status, admit });

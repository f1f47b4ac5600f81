import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../errors/database-error.js';

const againAfterMs = 500;

/** Retries until the database accepts the statement. */
export async function persist<T>(statement: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await delay(againAfterMs);
    }
  }
}

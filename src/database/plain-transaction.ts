import type { EntityManager } from 'typeorm';

/** A process that freezes within a transaction must not keep its locks from the others. */
export const limitIdleness = `SET LOCAL idle_in_transaction_session_timeout = '5s'`;

/** Runs one transaction over TypeORM. It is rolled back when `work` rejects. */
export function plainTransaction<T>(
  { manager }: { manager: EntityManager },
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return manager.transaction(async (own) => {
    await own.query(limitIdleness);
    return work(own);
  });
}

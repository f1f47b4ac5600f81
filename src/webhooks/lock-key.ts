import type { EntityManager } from 'typeorm';

/** Until the end of the transaction, no other one changes the secrets and the endpoints of the key. */
export async function lockWebhooksOf(keyId: string, manager: EntityManager): Promise<void> {
  await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1::text, 23))', [keyId]);
}

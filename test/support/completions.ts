import type { TestService } from './test-service.js';

/** From now on, each completion adds a row in its own commit: a delivery, which nobody sends. */
export async function recordCompletions(service: TestService): Promise<void> {
  await service.query(
    `INSERT INTO webhook_endpoint (id, api_key_id, url) SELECT gen_random_uuid(), id, 'http://127.0.0.1:9/' FROM api_key`,
  );
}

/** Counts how often a row of `request` was completed since. */
export const completions = '(SELECT count(*)::integer FROM webhook_delivery WHERE request_id = request.id)';

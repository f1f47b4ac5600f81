import { randomUUID } from 'node:crypto';
import type { BatchInsert } from '../../src/batches/queries/write-batches.js';

/** Returns what is inserted for a new batch of this key. */
export const newBatch = (id: string, keyId: string, idempotencyKey: string | null = null): BatchInsert => ({
  id,
  keyId,
  format: 'own',
  metadata: {},
  modelId: null,
  tag: null,
  priority: 1,
  webhookUrl: null,
  baseUrl: null,
  inputFileId: randomUUID(),
  idempotencyKey,
  fingerprint: Buffer.alloc(32),
  windowSeconds: 60,
});

import { createHash } from 'node:crypto';

/** Two submissions are the same request when model and body are. */
export function fingerprintOf(modelId: string, body: string): Buffer {
  return createHash('sha256').update(modelId).update('\n').update(body).digest();
}

import { DomainError } from '../../errors/domain-error.js';
import type { KnownWorker } from './known-workers.js';

/** Throws `worker_stopped` or `worker_resting`. A worker that an operator drains may claim, and gets nothing. */
export function assertMayClaim({ told, restMs }: KnownWorker): void {
  if (told === 'stop') throw new DomainError('worker_stopped', 'An operator has stopped this worker.');
  if (restMs === 0) return;
  const seconds = Math.ceil(restMs / 1_000);
  const detail = `The last runs of this worker have all failed. It may claim again in ${seconds} s.`;
  throw new DomainError('worker_resting', detail, { retryAfterSeconds: seconds });
}

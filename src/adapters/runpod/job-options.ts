import { DomainError } from '../../errors/domain-error.js';
import { isObject } from '../../http/input/json-body.js';
import type { Model } from '../../models/model.js';

const refused: Readonly<Record<string, string>> = {
  s3Config:
    'The option "s3Config" is not served: files are stored by this service. Leave it out, and read their URLs in the output.',
  webhookV2: 'The option "webhookV2" is not served. Use "webhook".',
};

/** Returns the options of a submission, as the service's own query has them. Runpod's other members are ignored. */
export function jobOptions(
  { webhook, policy, ...others }: Readonly<Record<string, unknown>>,
  { timeoutMs, expiresMs }: Pick<Model, 'timeoutMs' | 'expiresMs'>,
): Record<string, unknown> {
  for (const [name, words] of Object.entries(refused))
    if (others[name] !== undefined && others[name] !== null) throw new DomainError('bad_request', words);
  return { ...(webhook !== null && { webhook }), ...ofPolicy(policy ?? {}, { timeoutMs, expiresMs }) };
}

function ofPolicy(
  policy: unknown,
  { timeoutMs, expiresMs }: { timeoutMs: number; expiresMs: number | null },
): Record<string, string> {
  if (!isObject(policy)) throw new DomainError('bad_request', 'The option "policy" takes an object.');
  const { executionTimeout, ttl, lowPriority } = policy;
  const [runMs, waitMs] = [msOf('executionTimeout', executionTimeout), msOf('ttl', ttl)];
  if (lowPriority !== undefined && lowPriority !== null && typeof lowPriority !== 'boolean')
    throw new DomainError('bad_request', 'The option "policy.lowPriority" takes true or false.');
  // A time above the model's own limit is accepted and has no effect.
  return {
    ...(runMs !== undefined && runMs < timeoutMs && { timeout: `${runMs}ms` }),
    ...(waitMs !== undefined && waitMs < (expiresMs ?? Infinity) && { expires: `${waitMs}ms` }),
    ...(lowPriority === true && { priority: 'low' }),
  };
}

function msOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new DomainError(
    'bad_request',
    `The option "policy.${name}" takes milliseconds, a whole number from 1.`,
  );
}

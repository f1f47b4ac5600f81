import type { Caller } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import type { LeaseName } from '../queue/workers/lease.js';

const tokenBytes = 32;
const idDigits = 32;

/** On the wire a token also contains the request's id, so that a beat can report whose lease was lost. */
export function toLeaseToken({ id, token }: Omit<LeaseName, 'keyId'>): string {
  return Buffer.from(`${id}${token}`.replaceAll('-', ''), 'hex').toString('base64url');
}

/** Reads a token that the key presents. undefined: it is not a token. */
export function readLeaseToken(keyId: string, text: string): LeaseName | undefined {
  if (!/^[\w-]{43}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== tokenBytes) return undefined;
  const digits = bytes.toString('hex');
  return { id: toUuid(digits.slice(0, idDigits)), token: toUuid(digits.slice(idDigits)), keyId };
}

/**
 * Returns the lease that a call about a request's run names. Throws `lease_lost` for a token that cannot belong to the
 * request.
 */
export function leaseOf(
  { keyId }: Pick<Caller, 'keyId'>,
  requestId: string,
  header: string | string[] | undefined,
): LeaseName {
  if (header === undefined || header === '')
    throw new DomainError('bad_request', 'Send the lease_token of the run in the header Lease-Token.');
  const lease = readLeaseToken(keyId, String(header));
  if (lease?.id !== requestId) throw leaseLost();
  return lease;
}

export function leaseLost(): DomainError {
  const detail =
    'This Lease-Token no longer holds the lease: the run was given to another worker, or has ended.';
  return new DomainError('lease_lost', detail);
}

const toUuid = (digits: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;

import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.js';
import { claimForWorkers } from '../../src/queue/workers/queries/claim-for-workers.js';
import { rescueFromWorkers } from '../../src/queue/runs/queries/rescue.js';
import {
  endOf,
  findLeases,
  type LeasedRun,
  renewLeases,
} from '../../src/queue/workers/queries/worker-leases.js';
import { requestErrors } from '../../src/queue/request-errors.js';

/** The key of all these workers. */
const keyId = randomUUID();

export const newClaimId = (): string => `${keyId} ${randomUUID()}`;

/** Claims as a worker. Each claim has its own id. */
export function claimAs(
  database: Database,
  workerId: string,
  limit: number,
  more: Partial<Parameters<typeof claimForWorkers>[1]> & { claimId?: string } = {},
): Promise<LeasedRun[]> {
  const { claimId = newClaimId(), ...rest } = more;
  const slot = { workerId, claimId, claimHash: Buffer.alloc(1) };
  const slots = Array.from({ length: limit }, () => ({ ...slot, token: randomUUID() }));
  const terms = { modelId: 'test/model', slots, floor: null, timeoutMs: 60_000, byMs: Date.now() + 60_000 };
  const own = { isBounded: false, groupId: null, isReserved: false };
  return claimForWorkers(database, { ...terms, ...own, ...rest });
}

/** Rescues all requests of the workers whose leases have expired. */
export function rescueFrom(database: Database, lostLimit: number) {
  const [lost, cancelled] = [requestErrors.workerLost(0), requestErrors.cancelled(0)];
  return rescueFromWorkers(database, { lostLimit, lost, cancelled, nowMs: Infinity });
}

/** Makes the look-ups of every call about a run. Lost leases are not found. */
export async function knownOf(database: Database, named: readonly { id: string; token: string }[]) {
  const leases = named.map((lease) => ({ ...lease, keyId }));
  const [renewed, found] = [await renewLeases(database, leases), await findLeases(database, leases)];
  const ended = await Promise.all(leases.map((lease) => endOf(database, lease)));
  const tokens = new Set(renewed.map(({ token }) => token));
  const held = leases.filter(({ token }) => tokens.has(token));
  return { renewed: held.map(({ id }) => id).sort(), found: found.map(({ id }) => id).sort(), ended };
}

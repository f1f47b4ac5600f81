import { idTimeMs } from '../../src/database/days.js';
import type { Ledger } from '../load/ledger.js';
import type { StoredState } from './stored-state.js';

/** Keys are kept for 24 hours, and the clock may have been stepped by hours after the newest request. */
const prunedAfterMs = 20 * 3_600_000;

/** One idempotency key belongs to one request. */
export function checkIdempotency(stored: StoredState, ledger: Ledger): void {
  const rowsOfMarker = new Map<string, string[]>();
  for (const { id, marker } of stored.requests.values()) {
    rowsOfMarker.set(marker, [...(rowsOfMarker.get(marker) ?? []), id]);
  }
  const keys = new Map(stored.idempotencyKeys.map(({ key, id }) => [key, id]));
  for (const [key, id] of keys) {
    const made = rowsOfMarker.get(key.slice('key-'.length)) ?? [];
    if (made.length !== 1 || made[0] !== id) {
      ledger.violate('an idempotency key makes one request', `${key} made ${made.join(', ')}`, id);
    }
  }
  const newest = [...stored.requests.keys()].reduce((latest, id) => Math.max(latest, idTimeMs(id)), 0);
  for (const [key, ids] of ledger.idsOfKey) {
    const isPruned = !keys.has(key) && [...ids].every((id) => newest - idTimeMs(id) > prunedAfterMs);
    if (isPruned && ids.size === 1) continue;
    if (ids.size !== 1 || !ids.has(keys.get(key) ?? '')) {
      const detail = `${key} was answered with ${[...ids].join(', ')}, the database has ${keys.get(key)}`;
      ledger.violate('an idempotency key is answered with one request', detail);
    }
  }
}

import type { FaultRecord } from '../faults/fault.js';
import type { Revocation } from '../load/key-revoker.js';
import type { Ledger } from '../load/ledger.js';

const promisedMs = 5_000;
/** Time between the commit and the acknowledgement that the harness saw, plus a check of the key that was under way. */
const slackMs = 300;

/** Every node refuses a revoked key 5 s later. A fault that is in the way adds its time. */
export function checkRevocations(
  revocations: readonly Revocation[],
  records: readonly FaultRecord[],
  ledger: Ledger,
): number {
  let worst = 0;
  for (const { key, revokedAt, served } of revocations) {
    for (const { node, sentAt } of served) {
      const heals = records
        .filter((record) => record.from <= sentAt && record.healedAt >= revokedAt)
        .filter(({ nodes }) => nodes.length === 0 || nodes.includes(node))
        .map(({ healedAt }) => healedAt);
      const after = sentAt - Math.max(revokedAt, ...heals);
      worst = Math.max(worst, after);
      if (after <= promisedMs + slackMs) continue;
      const detail = `${key} was served by ${node} ${(after / 1_000).toFixed(1)} s later`;
      ledger.violate('a revoked key is turned away within 5 s', detail);
    }
  }
  return worst;
}

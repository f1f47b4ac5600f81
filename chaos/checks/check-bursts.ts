import type { BurstRecord } from '../load/bursts.js';
import type { Ledger } from '../load/ledger.js';

/** Outside of faults one commit must have written more than one submission. */
export function checkBursts(records: readonly BurstRecord[], ledger: Ledger): void {
  const calm = records.filter((record) => record.calm);
  if (calm.length > 0 && calm.every(({ groupedCommits }) => groupedCommits === 0)) {
    ledger.violate('a burst is written in batches', 'no two waiting submissions had one commit');
  }
}

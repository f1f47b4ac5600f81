import type { FaultRecord } from '../faults/fault.js';
import { servedAfterMs, takenUpAfterMs } from '../faults/recovery.js';
import type { Ledger } from '../load/ledger.js';
import type { RunLog, Starts } from '../model/run-log.js';
import type { StoredState } from './stored-state.js';

const takenUpTargetMs = 15_000;
const servedTargetMs = 10_000;
/** The lease of a run of a worker is over after 30 s. */
const afterLeaseMs = 30_000 + takenUpTargetMs;

/** Checks the promised times to recover. Where another fault stood in the way, they begin again at its heal. */
export function checkRecovery(
  records: readonly FaultRecord[],
  runs: RunLog,
  stored: StoredState,
  ledger: Ledger,
): void {
  for (const record of records) {
    const served = Math.max(0, ...servedAfterMs(record, records));
    if (served > servedTargetMs) {
      ledger.violate('the service is back within 10 s of the database', `${record.kind}: ${seconds(served)}`);
    }
    const takenUp = Math.max(0, ...takenUpAfterMs(record, records, runs, stored));
    // In a rolling restart several nodes may hand back the same run, one after the other.
    const lasts = record.nodes.length > 1 && !record.total ? record.healedAt - record.from : 0;
    if (takenUp > lasts + takenUpTargetMs) {
      ledger.violate('lost runs are taken up within 15 s', `${record.kind}: ${seconds(takenUp)}`);
    }
  }
}

/** The same check for the runs of workers. Other workers were there all the time. */
export function checkWorkersRecovery(
  records: readonly FaultRecord[],
  others: readonly FaultRecord[],
  work: Starts,
  stored: StoredState,
  ledger: Ledger,
): void {
  for (const record of records) {
    const takenUp = Math.max(0, ...takenUpAfterMs(record, others, work, stored));
    if (takenUp <= afterLeaseMs) continue;
    const { kind, nodes } = record;
    ledger.violate(
      'what a worker lost is taken up within 45 s',
      `${kind} ${nodes.join()}: ${seconds(takenUp)}`,
    );
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

import type { FaultRecord } from '../faults/fault.js';
import { servedAfterMs, takenUpAfterMs, wasAlone } from '../faults/recovery.js';
import type { Ledger } from '../load/ledger.js';
import type { RunBook } from '../model/run-book.js';

const takenUpTargetMs = 15_000;
const servedTargetMs = 10_000;

/** The times to recover that are promised, where one fault was alone. */
export function checkRecovery(records: readonly FaultRecord[], runs: RunBook, ledger: Ledger): void {
  for (const record of records) {
    const served = Math.max(0, ...servedAfterMs(record, records));
    if (served > servedTargetMs && wasAlone(record, records, served)) {
      ledger.violate('the service is back within 10 s of the database', `${record.kind}: ${seconds(served)}`);
    }
    const takenUp = Math.max(0, ...takenUpAfterMs(record, records, runs));
    const deadline = record.nodes.length === 1 ? takenUpTargetMs : Infinity;
    if (takenUp > deadline && wasAlone(record, records, takenUp)) {
      ledger.violate('lost runs are taken up within 15 s', `${record.kind}: ${seconds(takenUp)}`);
    }
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

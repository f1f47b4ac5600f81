import { isDropped, type StoredState } from './checks/stored-state.js';
import type { FaultRecord } from './faults/fault.js';
import { servedAfterMs, takenUpAfterMs } from './faults/recovery.js';
import type { Ledger } from './load/ledger.js';
import type { Starts } from './model/run-log.js';

/** Effects of one kind of fault. */
export interface FaultRow {
  kind: string;
  times: number;
  /**
   * Requests that the nodes or the worker were running, plus those accepted during the fault unless it hit a worker.
   */
  affected: number;
  servedMs: number[];
  takenUpMs: number[];
  /** Accepted requests among the affected that did not complete, without those of days that retention has dropped. */
  lost: number;
}

export function faultRows(
  records: readonly FaultRecord[],
  ledger: Ledger,
  stored: StoredState,
  runs: Starts,
  others: readonly FaultRecord[],
): FaultRow[] {
  return [...new Set(records.map(({ kind }) => kind))].map((kind) => {
    const made = records.filter((record) => record.kind === kind);
    const affected = [...new Set(made.flatMap((record) => affectedBy(record, ledger)))];
    return {
      kind,
      times: made.length,
      affected: affected.length,
      servedMs: made.flatMap((record) => servedAfterMs(record, others)),
      takenUpMs: made.flatMap((record) => takenUpAfterMs(record, others, runs, stored)),
      lost: affected.filter((id) => !isDropped(id, stored) && stored.requests.get(id)?.state !== 'COMPLETED')
        .length,
    };
  });
}

/** Merges the rows of several runs. */
export function mergeRows(rows: readonly FaultRow[]): FaultRow[] {
  return [...new Set(rows.map(({ kind }) => kind))].map((kind) => {
    const same = rows.filter((row) => row.kind === kind);
    return {
      kind,
      times: sum(same.map(({ times }) => times)),
      affected: sum(same.map(({ affected }) => affected)),
      servedMs: same.flatMap(({ servedMs }) => servedMs),
      takenUpMs: same.flatMap(({ takenUpMs }) => takenUpMs),
      lost: sum(same.map(({ lost }) => lost)),
    };
  });
}

/** Markdown, so that the documentation can include it unchanged. */
export function renderRows(rows: readonly FaultRow[]): string[] {
  return [
    '| fault | times | requests in its way | serves again, p50 · worst | runs taken up, p50 · worst | lost |',
    '| --- | --- | --- | --- | --- | --- |',
    ...[...rows]
      .sort((a, b) => a.kind.localeCompare(b.kind))
      .map(({ kind, times, affected, servedMs, takenUpMs, lost }) => {
        const cells = [kind, times, affected, spread(servedMs), spread(takenUpMs), lost];
        return `| ${cells.join(' | ')} |`;
      }),
  ];
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function affectedBy({ hits, from, healedAt, affected }: FaultRecord, { accepted }: Ledger): string[] {
  const running = affected.map(({ requestId }) => requestId).filter((id) => accepted.has(id));
  if (hits === 'one worker') return running;
  const during = [...accepted.values()].filter(
    ({ acceptedAt }) => acceptedAt >= from && acceptedAt <= healedAt,
  );
  return [...running, ...during.map(({ id }) => id)];
}

function spread(ms: readonly number[]): string {
  if (ms.length === 0) return '–';
  const sorted = [...ms].sort((a, b) => a - b);
  return `${seconds(sorted[Math.floor((sorted.length - 1) / 2)]!)} · ${seconds(sorted.at(-1)!)}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

import { overlaps } from '../clock.js';
import type { ServiceNode } from '../cluster/service-node.js';
import type { FaultRecord } from '../faults/fault.js';
import type { Disturbance, Ledger } from '../load/ledger.js';
import type { Pace } from '../load/pace.js';

/** A node still counts as away this long after it listens, or after it is thawed. */
const afterAwayMs = 1_000;

/**
 * No 5xx and no broken connection where no fault is in the way. A fault of the database reaches all nodes, a fault of a
 * node only this one, and a restart in order only the node that is closing. In a slow moment of the machine two things
 * are excused: a 503, and an answer beyond the bound of time. Returns how many were excused.
 */
export function checkCalm(
  ledger: Ledger,
  records: readonly FaultRecord[],
  nodes: readonly ServiceNode[],
  pace: Pace,
): number {
  let late = 0;
  for (const disturbance of ledger.disturbances) {
    if (isExcused(disturbance, records)) continue;
    const { node, what, from, to } = disturbance;
    if (what.includes(': 503') && pace.isSlow(from, to)) {
      late++;
      continue;
    }
    const detail = `${node.name}, ${Math.round(from)} to ${Math.round(to)}: ${what}`;
    ledger.violate('without a fault no call breaks and none is answered with 5xx', detail);
  }
  for (const { node, what, from, to } of ledger.lateAnswers) {
    if (pace.isSlow(from, to)) late++;
    else
      ledger.violate(
        'a call is answered in bounded time',
        `${node.name}, ${Math.round(from)} to ${Math.round(to)}: ${what}`,
      );
  }
  // A node is always away while it starts, so only a fault of the database may keep it from listening.
  const byDatabase = records.filter(({ nodes: hit }) => hit.length === 0);
  for (const node of nodes) {
    for (const { from, to, output } of node.failedStarts) {
      if (byDatabase.some((record) => reaches(record, node, from, to))) continue;
      const detail = `${node.name}, ${Math.round(from)} to ${Math.round(to)}: ${output}`;
      ledger.violate('a process that starts comes to listen', detail);
    }
  }
  return late;
}

function isExcused({ node, what, from, to }: Disturbance, records: readonly FaultRecord[]): boolean {
  const isOpenStream = /^an? (output )?stream/.test(what) && !/: (503|fetch failed)/.test(what);
  return (
    node.wasAway(from - afterAwayMs, to) ||
    records.some(
      (record) =>
        reaches(record, node, from, to) ||
        (isOpenStream &&
          record.endsStreams &&
          overlaps({ from: record.from, to: record.healedAt }, from, to)),
    )
  );
}

function reaches(record: FaultRecord, node: ServiceNode, from: number, to: number): boolean {
  const { nodes, graceMs, healedAt } = record;
  if (graceMs === null || (nodes.length > 0 && !nodes.includes(node.name))) return false;
  return record.from <= to && from <= healedAt + graceMs;
}

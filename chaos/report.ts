import type { CancelUse } from './checks/check-cancels.js';
import type { ShareUse } from './checks/check-shares.js';
import type { StoredState } from './checks/stored-state.js';
import type { Cluster } from './cluster/cluster.js';
import { renderRows, seconds } from './fault-table.js';
import type { FaultRecord } from './faults/fault.js';
import type { BurstRecord } from './load/bursts.js';
import type { Ledger } from './load/ledger.js';
import type { Result } from './results.js';

export interface Findings {
  cluster: Cluster;
  stored: StoredState;
  ledger: Ledger;
  records: readonly FaultRecord[];
  result: Result;
}

/** Violations that are shown of each rule. */
const shownViolations = 3;

/** A report of the run, for people. */
export function report({ cluster, stored, ledger, records, result }: Findings): string {
  const outcomes = countBy([...stored.requests.values()].map(({ outcome }) => outcome ?? 'none'));
  const complaints = cluster.nodes.flatMap(({ complaints }) => complaints);
  return [
    `nodes: ${cluster.nodes.map(({ name, role }) => `${name} ${role}`).join(', ')}`,
    `requests: ${result.requests}, accepted: ${ledger.accepted.size}, runs: ${result.runs}, of workers: ${result.runsOfWorkers}`,
    `outcomes: ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    `streams followed: ${ledger.followed.length}, opened ${ledger.followed.reduce((sum, { opened }) => sum + opened, 0)} times`,
    ...result.bursts.map(burstText),
    ...result.limits.map(
      ({ routes, window, callers, fullest, fullestCaller, refused, judged, unduly }) =>
        `limits of a ${window} (${routes}): ${callers} callers, at most ${Math.round(fullest * 100)} % used (${fullestCaller}), ${refused} refused; below 70 %, without a fault and not in one of ${result.slowMoments} slow moments: ${unduly} of ${judged} refused`,
    ),
    ...result.shares.map(shareText),
    cancelText(result.cancels),
    `late, or 503 without a fault, in a slow moment: ${result.lateInSlowMoments}`,
    `worst call of a node that was there: ${seconds(result.worstCallMs)}`,
    `last call served with a revoked key: ${seconds(result.servedAfterRevocationMs)} after it`,
    `positions exact after: ${result.positionsExactAfterMs.map(seconds).join(', ')}`,
    `runs at once, at most: ${result.peaks.map(({ modelId, peak, limit }) => `${modelId} ${peak} of ${limit === Infinity ? 'any' : limit}`).join(', ')}`,
    ...Object.entries(result.counts).map(([what, count]) => `${what}: ${count}`),
    ...(complaints.length === 0
      ? []
      : [`error lines in the logs: ${complaints.length}`, ...complaints.slice(0, 5)]),
    '',
    ...renderRows(result.faultRows),
    '',
    ...violations(ledger, stored),
    ...(ledger.violations.length === 0 ? [] : ['', 'the faults, in milliseconds:', ...records.map(timeline)]),
  ].join('\n');
}

export function burstText(burst: BurstRecord): string {
  const { calm, offered, accepted, refused, offeredPerSecond, acceptedPerSecond } = burst;
  const batches = calm ? `; up to ${burst.largestCommit} in one commit` : '';
  return `burst ${calm ? 'without a fault' : 'under faults'}: ${offered} offered, ${accepted} accepted, ${refused} refused; in the best second ${offeredPerSecond} and ${acceptedPerSecond}${batches}`;
}

function cancelText({ judged, medianMs, worstMs }: CancelUse): string {
  return `workers were told of ${judged} cancels without a fault in the way, half of them within ${Math.round(medianMs)} ms, all within ${Math.round(worstMs)} ms`;
}

function shareText({ modelId, minutes, judged, least }: ShareUse): string {
  const found = judged === 0 ? 'none had work all the time' : `at least ${least.toFixed(2)} of its share`;
  return `${modelId}: minutes without a fault (each 5 s after the last): ${minutes}; keys that always had work: ${found} (${judged} times)`;
}

function timeline({ kind, nodes, from, healedAt }: FaultRecord): string {
  return `${Math.round(from)} to ${Math.round(healedAt)}: ${kind} ${nodes.join(', ')}`;
}

function violations({ violations }: Ledger, stored: StoredState): string[] {
  if (violations.length === 0) return ['no violation'];
  const rules = countBy(violations.map(({ rule }) => rule));
  const shown = [...rules.keys()].flatMap((rule) =>
    violations.filter((violation) => violation.rule === rule).slice(0, shownViolations),
  );
  return [
    `${violations.length} violations: ${[...rules].map(([rule, count]) => `${rule} (${count})`).join(', ')}`,
    ...shown.flatMap(({ rule, detail, requestId }) => [
      `- ${rule}${requestId === undefined ? '' : ` [${requestId}]`}: ${detail}`,
      ...(requestId === undefined ? [] : [`  ${JSON.stringify(stored.requests.get(requestId))}`]),
    ]),
  ];
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

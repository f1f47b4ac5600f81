import type { Peak } from './checks/check-concurrency.js';
import type { Books } from './checks/books.js';
import type { Cluster } from './cluster/cluster.js';
import { type FaultRow, renderRows, seconds } from './fault-table.js';
import type { FaultRecord } from './faults/fault.js';
import type { Ledger } from './load/ledger.js';
import type { RunBook } from './model/run-book.js';

export interface Findings {
  cluster: Cluster;
  books: Books;
  ledger: Ledger;
  runs: RunBook;
  records: readonly FaultRecord[];
  rows: readonly FaultRow[];
  peaks: Peak[];
  exactAfterMs: number[];
  worstCallMs: number;
}

/** Of each rule. */
const shownViolations = 3;

/** What happened, for people. */
export function report(findings: Findings): string {
  const { cluster, ledger, books, peaks, exactAfterMs, worstCallMs } = findings;
  const outcomes = countBy([...books.requests.values()].map(({ outcome }) => outcome ?? 'none'));
  const complaints = cluster.nodes.flatMap(({ complaints }) => complaints);
  return [
    `nodes: ${cluster.nodes.map(({ name, role }) => `${name} ${role}`).join(', ')}`,
    `requests: ${books.requests.size}, accepted: ${ledger.accepted.size}, runs: ${findings.runs.runs.length}`,
    `outcomes: ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    `streams followed: ${ledger.followed.length}, opened ${ledger.followed.reduce((sum, { opened }) => sum + opened, 0)} times`,
    `worst call of a node that was there: ${seconds(worstCallMs)}`,
    `positions exact after: ${exactAfterMs.map(seconds).join(', ')}`,
    `runs at once, at most: ${peaks.map(({ modelId, peak, limit }) => `${modelId} ${peak} of ${limit}`).join(', ')}`,
    ...[...ledger.counts].sort(([a], [b]) => a.localeCompare(b)).map(([what, count]) => `${what}: ${count}`),
    ...(complaints.length === 0
      ? []
      : [`error lines in the logs: ${complaints.length}`, ...complaints.slice(0, 5)]),
    '',
    ...renderRows(findings.rows),
    '',
    ...violations(ledger, books),
    ...(ledger.violations.length === 0
      ? []
      : ['', 'the faults, in milliseconds:', ...findings.records.map(timeline)]),
  ].join('\n');
}

function timeline({ kind, nodes, from, healedAt }: FaultRecord): string {
  return `${Math.round(from)} to ${Math.round(healedAt)}: ${kind} ${nodes.join(', ')}`;
}

function violations({ violations }: Ledger, books: Books): string[] {
  if (violations.length === 0) return ['no violation'];
  const rules = countBy(violations.map(({ rule }) => rule));
  const shown = [...rules.keys()].flatMap((rule) =>
    violations.filter((violation) => violation.rule === rule).slice(0, shownViolations),
  );
  return [
    `${violations.length} violations: ${[...rules].map(([rule, count]) => `${rule} (${count})`).join(', ')}`,
    ...shown.flatMap(({ rule, detail, requestId }) => [
      `- ${rule}${requestId === undefined ? '' : ` [${requestId}]`}: ${detail}`,
      ...(requestId === undefined ? [] : [`  ${JSON.stringify(books.requests.get(requestId))}`]),
    ]),
  ];
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

import type { Peak } from './checks/check-concurrency.js';
import type { Books } from './checks/books.js';
import type { Cluster } from './cluster/cluster.js';
import type { FaultRecord } from './faults/fault.js';
import { servedAfterMs, takenUpAfterMs } from './faults/recovery.js';
import type { Ledger } from './load/ledger.js';
import type { RunBook } from './model/run-book.js';

export interface Findings {
  cluster: Cluster;
  books: Books;
  ledger: Ledger;
  runs: RunBook;
  records: readonly FaultRecord[];
  peaks: Peak[];
  exactAfterMs: number[];
  worstCallMs: number;
}

/** Of each rule. */
const shownViolations = 3;

/** What happened, for people; Markdown, so that it can go into the documentation as it is. */
export function report(findings: Findings): string {
  const { cluster, ledger, books, peaks, exactAfterMs, worstCallMs } = findings;
  const outcomes = countBy([...books.requests.values()].map(({ outcome }) => outcome ?? 'none'));
  const complaints = cluster.nodes.flatMap(({ complaints }) => complaints);
  return [
    `nodes: ${cluster.nodes.map(({ name, role }) => `${name} ${role}`).join(', ')}`,
    `requests: ${books.requests.size}, accepted: ${ledger.accepted.size}, runs: ${findings.runs.runs.length}`,
    `outcomes: ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`,
    `streams followed: ${ledger.followed.length}, opened ${sum(ledger.followed.map(({ opened }) => opened))} times`,
    `worst call of a node that was there: ${seconds(worstCallMs)}`,
    `positions exact after: ${exactAfterMs.map(seconds).join(', ')}`,
    `runs at once, at most: ${peaks.map(({ modelId, peak, limit }) => `${modelId} ${peak} of ${limit}`).join(', ')}`,
    ...[...ledger.counts].sort(([a], [b]) => a.localeCompare(b)).map(([what, count]) => `${what}: ${count}`),
    ...(complaints.length === 0
      ? []
      : [`error lines in the logs: ${complaints.length}`, ...complaints.slice(0, 5)]),
    '',
    ...faultTable(findings),
    '',
    ...violations(ledger, books),
    ...(ledger.violations.length === 0
      ? []
      : ['', 'the faults, in milliseconds:', ...findings.records.map(timeline)]),
  ].join('\n');
}

function faultTable({ records, ledger, books, runs }: Findings): string[] {
  const kinds = [...new Set(records.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const made = records.filter((record) => record.kind === kind);
    const served = made.flatMap((record) => servedAfterMs(record, records));
    const takenUp = made.flatMap((record) => takenUpAfterMs(record, records, runs));
    const affected = new Set(made.flatMap((record) => affectedBy(record, ledger)));
    const lost = [...affected].filter((id) => books.requests.get(id)?.state !== 'COMPLETED').length;
    return `| ${kind} | ${made.length} | ${affected.size} | ${times(served)} | ${times(takenUp)} | ${lost} |`;
  });
  return [
    '| fault | times | requests in its way | serves again, p50 · worst | runs taken up, p50 · worst | lost |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

/** What its nodes were running, and what was accepted while it lasted. */
function affectedBy({ from, healedAt, affected }: FaultRecord, ledger: Ledger): string[] {
  const during = [...ledger.accepted.values()].filter(
    ({ acceptedAt }) => acceptedAt >= from && acceptedAt <= healedAt,
  );
  return [
    ...affected.flatMap(({ requestId }) => (ledger.accepted.has(requestId) ? requestId : [])),
    ...during.map(({ id }) => id),
  ];
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

function times(ms: readonly number[]): string {
  if (ms.length === 0) return '–';
  const sorted = [...ms].sort((a, b) => a - b);
  return `${seconds(sorted[Math.floor((sorted.length - 1) / 2)]!)} · ${seconds(sorted.at(-1)!)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

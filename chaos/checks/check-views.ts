import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../cluster/cluster.js';
import type { Ledger } from '../load/ledger.js';

type Row = Record<string, unknown>;

interface Snapshot {
  /** Of the tables. */
  models: { id: string; concurrency: number }[];
  waiting: { model_id: string }[];
  delayed: { model_id: string }[];
  leases: { request_id: string; model_id: string; attempt: number; node_id: string }[];
  nodes: { id: string; name: string }[];
  requests: RequestRow[];
  /** Of the views. */
  queue_depth: Row[];
  running_now: Row[];
  model_stats: Row[];
  request_history: Row[];
}

interface RequestRow {
  id: string;
  model_id: string;
  key_name: string | null;
  state: string;
  outcome: string | null;
  attempt: number;
  error_code: string | null;
  /** Whether `model_stats` looks back so far. */
  recent: boolean;
}

/** The documented views hold what the tables hold, in one snapshot. */
export async function checkViews({ postgres }: Cluster, ledger: Ledger): Promise<void> {
  const [snapshot] = await postgres.query<Snapshot>(query);
  const expected: Record<string, Row[]> = {
    queue_depth: queueDepth(snapshot!),
    running_now: runningNow(snapshot!),
    model_stats: modelStats(snapshot!),
    request_history: requestHistory(snapshot!),
  };
  for (const [view, rows] of Object.entries(expected)) {
    const shown = sorted(snapshot![view as 'queue_depth']);
    ledger.count(`rows of ${view} compared`, shown.length);
    const wanted = sorted(rows);
    if (isDeepStrictEqual(shown, wanted)) continue;
    const at = wanted.findIndex((row, i) => !isDeepStrictEqual(row, shown[i]));
    const detail = `${shown.length} of ${wanted.length} rows, ${JSON.stringify(shown[at])}, not ${JSON.stringify(wanted[at])}`;
    ledger.violate('the views show what the tables hold', `${view}: ${detail}`);
  }
}

const list = (select: string): string =>
  `(SELECT coalesce(json_agg(listed), '[]') FROM (${select}) AS listed)`;

/** One statement, so one snapshot. */
const query = `
  SELECT ${list('SELECT id, concurrency FROM model')} AS models,
         ${list('SELECT model_id FROM queue_entry')} AS waiting,
         ${list('SELECT model_id FROM delayed_entry')} AS delayed,
         ${list('SELECT request_id, model_id, attempt, node_id FROM lease')} AS leases,
         ${list('SELECT id, name FROM node')} AS nodes,
         ${list(`SELECT request.id, model_id, api_key.name AS key_name, state, outcome, attempt,
                        error ->> 'code' AS error_code, uuid_time(request.id) >= now() - interval '1 hour' AS recent
                 FROM request LEFT JOIN api_key ON api_key.id = api_key_id`)} AS requests,
         ${list('SELECT model_id, waiting, delayed, running, concurrency FROM queue_depth')} AS queue_depth,
         ${list('SELECT request_id, model_id, attempt, node FROM running_now')} AS running_now,
         ${list('SELECT model_id, completed, succeeded, failed, cancelled, expired FROM model_stats')} AS model_stats,
         ${list(`SELECT id, model_id, key_name, state, outcome, attempts, error_code
                 FROM request_history`)} AS request_history`;

function queueDepth({ models, waiting, delayed, leases }: Snapshot): Row[] {
  const inWaiting = countByModel(waiting);
  const inDelayed = countByModel(delayed);
  const running = countByModel(leases);
  return models.map(({ id, concurrency }) => ({
    model_id: id,
    waiting: inWaiting.get(id) ?? 0,
    delayed: inDelayed.get(id) ?? 0,
    running: running.get(id) ?? 0,
    concurrency,
  }));
}

function runningNow({ leases, nodes }: Snapshot): Row[] {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  return leases.map(({ request_id, model_id, attempt, node_id }) => ({
    request_id,
    model_id,
    attempt,
    node: names.get(node_id) ?? 'lost',
  }));
}

function modelStats({ requests }: Snapshot): Row[] {
  const completed = requests.filter(({ state, recent }) => state === 'COMPLETED' && recent);
  const rowsOf = (id: string): RequestRow[] => completed.filter(({ model_id }) => model_id === id);
  const count = (rows: readonly RequestRow[], outcome: string): number =>
    rows.filter((row) => row.outcome === outcome).length;
  const models = new Set(completed.map(({ model_id }) => model_id));
  return [...models]
    .map((id) => ({ id, rows: rowsOf(id) }))
    .map(({ id, rows }) => ({
      model_id: id,
      completed: rows.length,
      succeeded: count(rows, 'succeeded'),
      failed: count(rows, 'failed'),
      cancelled: count(rows, 'cancelled'),
      expired: count(rows, 'expired'),
    }));
}

function requestHistory({ requests }: Snapshot): Row[] {
  return requests.map(({ id, model_id, key_name, state, outcome, attempt, error_code }) => ({
    id,
    model_id,
    key_name,
    state,
    outcome,
    attempts: attempt,
    error_code,
  }));
}

function countByModel(rows: readonly { model_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { model_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** By all their columns in one order. */
function sorted(rows: readonly Row[]): Row[] {
  const keyed = rows.map((row) => {
    const entries = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return { row: Object.fromEntries(entries), text: JSON.stringify(entries) };
  });
  return keyed.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map(({ row }) => row);
}

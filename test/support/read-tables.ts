import type { Database } from '../../src/database/database.js';

const requestRows = {
  name: 'all_requests',
  text: `
  SELECT r.id, r.priority, r.virtual_start::integer AS start, r.seq::integer AS seq,
         CASE WHEN l.request_id IS NOT NULL THEN 'lease'
              WHEN q.request_id IS NOT NULL THEN 'queue'
              WHEN d.ready_at = 'infinity' THEN 'held'
              WHEN d.request_id IS NOT NULL THEN 'delay'
              ELSE 'end' END AS place,
         r.state, r.outcome, r.error->>'code' AS code, r.attempt, r.failed_attempts AS failed, r.lost_attempts AS lost,
         num_nonnulls(l.request_id, q.request_id, d.request_id) AS places,
         l.token, l.node_id AS node, l.worker_id AS worker, l.attempt AS "leaseAttempt", l.events AS lines,
         l.cancel_requested_at IS NOT NULL AS "cancelRequested", r.output::text AS output,
         r.input::text AS input, r.retry_of AS "retryOf", r.retried_as AS "retriedAs", r.erased_at IS NOT NULL AS erased
  FROM request r
  LEFT JOIN lease l ON l.request_id = r.id
  LEFT JOIN queue_entry q ON q.request_id = r.id
  LEFT JOIN delayed_entry d ON d.request_id = r.id
  ORDER BY r.seq`,
};
const endedRows = {
  name: 'all_attempts',
  text: `SELECT request_id AS id, outcome AS text FROM attempt ORDER BY request_id, attempt`,
};
const eventRows = {
  name: 'all_events',
  text: `
  SELECT request_id AS id, kind || ' ' || attempt || coalesce(' ' || message, '') AS text
  FROM request_timeline
  WHERE kind <> 'submitted'
  ORDER BY request_id, attempt, step, event_id`,
};

/** Returns each request with its attempts and events, in the terms of the state model. */
export async function readTables(database: Database): Promise<object[]> {
  const [rows, ended, events] = await Promise.all([
    database.query<{ id: string }>(requestRows),
    database.query<Text>(endedRows).then(byId),
    database.query<Text>(eventRows).then(byId),
  ]);
  return rows.map((row) => ({ ...row, ended: ended.get(row.id) ?? [], events: events.get(row.id) ?? [] }));
}

interface Text {
  id: string;
  text: string;
}

function byId(rows: Text[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { id, text } of rows) texts.set(id, [...(texts.get(id) ?? []), text]);
  return texts;
}

import type { DataSource } from 'typeorm';
import { firstIdAt, withinDaysOf } from '../../database/days.js';
import type { LogLevel, LogSource } from '../runs/runner.js';

/** One thing that happened to a request. Events of runs name the node, or the worker, that ran it. */
export interface LifeEvent {
  id: number;
  at: Date;
  kind: 'submitted' | 'started' | 'requeued' | 'cancel_requested' | 'completed';
  attempt: number;
  node: string | null;
  /** The outcome of the run that ended. */
  outcome: string | null;
  code: string | null;
  message: string | null;
  /** The time at which the run ended, if that is before it was noticed: the last sign of life of its node. */
  endedAt: Date | null;
  /** The end of the pause before its next attempt; null: there was none. */
  until: Date | null;
}

export interface LifeLogEntry {
  id: number;
  at: Date;
  level: LogLevel;
  source: LogSource;
  message: string;
  attempt: number;
}

/** The time from which on a request was at a position. */
export interface PositionPoint {
  at: Date;
  position: number;
}

/** The greatest value of PostgreSQL's type `integer`. No payload is that long. */
const maxInteger = 2 ** 31 - 1;
const maxPoints = 60;
const maxLooks = 20_000;
/** Requests that were submitted so much earlier may have started later. */
const earlierMs = 3_600_000;

/** Returns what happened to a request, oldest first, without its log. */
export async function readLife(source: DataSource, requestId: string): Promise<LifeEvent[]> {
  const within = withinDaysOf(requestId);
  return source.query(
    `SELECT row_number() OVER (ORDER BY event.attempt, step, event_id)::integer - 1 AS id, event.at, event.kind,
       event.attempt, node_name.name AS node,
       run.outcome, run.error_code AS code, run.error_message AS message,
       run.ended_at AS "endedAt", event.paused_until AS until
     FROM request_timeline AS event
     LEFT JOIN attempt AS run ON run.request_id = event.request_id AND ${within('run.request_id')} AND run.attempt = event.attempt
       AND event.kind IN ('started', 'requeued', 'completed')
     LEFT JOIN lease ON lease.request_id = event.request_id AND lease.attempt = event.attempt
     LEFT JOIN node_name ON node_name.id = coalesce(lease.node_id, lease.worker_id, run.node_id, run.worker_id)
     WHERE event.request_id = $1::uuid AND ${within('event.request_id')} AND event.kind <> 'log'
     ORDER BY event.attempt, step, event_id`,
    [requestId],
  );
}

/** Returns the log entries after an id, oldest first. */
export function readLogPage(
  source: DataSource,
  requestId: string,
  { after, limit }: { after: number; limit: number },
): Promise<LifeLogEntry[]> {
  return source.query(
    `SELECT id, at, level, source, message, attempt FROM request_event
     WHERE request_id = $1::uuid AND ${withinDaysOf(requestId)('request_id')} AND id > $2::bigint AND message IS NOT NULL ORDER BY id LIMIT $3::integer`,
    [requestId, after, limit],
  );
}

/** Returns a slice of the JSON text as it was sent, and the length of the whole; null: there is none (any more). */
export async function readPayload(
  source: DataSource,
  requestId: string,
  part: 'input' | 'output',
  { from, to }: { from: number; to: number },
): Promise<{ bytes: Buffer; total: number } | null> {
  if (from === 0 && to === Infinity) return readWhole(source, requestId, part);
  const rows = await source.query<{ bytes: Buffer | null; total: number | null }[]>(
    `SELECT substring(text FROM $2::integer + 1 FOR $3::integer) AS bytes, octet_length(text) AS total
     FROM (SELECT convert_to(${part}::text, 'UTF8') AS text FROM request
           WHERE id = $1::uuid AND ${withinDaysOf(requestId)('id')} OFFSET 0) AS payload`,
    [requestId, Math.min(from, maxInteger - 1), Math.max(0, Math.min(to - from, maxInteger))],
  );
  const { bytes = null, total = null } = rows[0] ?? {};
  return bytes === null || total === null ? null : { bytes, total };
}

/** As text, because pg gets bytes in hexadecimal form: 31 MB then took up to twice as long. */
async function readWhole(
  source: DataSource,
  requestId: string,
  part: 'input' | 'output',
): Promise<{ bytes: Buffer; total: number } | null> {
  const rows = await source.query<{ text: string | null }[]>(
    `SELECT ${part}::text AS text FROM request WHERE id = $1::uuid AND ${withinDaysOf(requestId)('id')}`,
    [requestId],
  );
  const text = rows[0]?.text ?? null;
  if (text === null) return null;
  const bytes = Buffer.from(text);
  return { bytes, total: bytes.length };
}

export async function payloadSizes(
  source: DataSource,
  requestId: string,
): Promise<{ input: number | null; output: number | null }> {
  const rows = await source.query<{ input: number | null; output: number | null }[]>(
    `SELECT octet_length(input::text) AS input, octet_length(output::text) AS output FROM request
     WHERE id = $1::uuid AND ${withinDaysOf(requestId)('id')}`,
    [requestId],
  );
  return rows[0] ?? { input: null, output: null };
}

/**
 * Returns how a request moved up: how many requests of its model were started between each point and its own start,
 * by the requests that are still kept. Requests that started before its submission are not counted. Empty if too many
 * requests would have to be read.
 */
export async function readPositions(
  source: DataSource,
  {
    id,
    modelId,
    createdAtMs,
    startedAtMs,
    now,
    position,
  }: {
    id: string;
    modelId: string;
    createdAtMs: number;
    startedAtMs: number | null;
    now: number;
    position: number;
  },
): Promise<PositionPoint[]> {
  const endMs = startedAtMs ?? now;
  const [firstId, endId] = [firstIdAt(createdAtMs - earlierMs), firstIdAt(endMs)];
  const rows = await source.query<{ at: Date; looks: number }[]>(
    `SELECT started_at AS at, looks FROM (
       SELECT model_id, started_at, count(*) OVER () AS looks FROM (
         SELECT model_id, started_at FROM request
         WHERE request.id > $5::uuid AND request.id < $6::uuid AND request.id <> $4::uuid
           AND ${withinDaysOf(firstId, endId)('request.id')}
         LIMIT ${maxLooks + 1}
       ) AS near
     ) AS near
     WHERE model_id = $1 AND started_at > to_timestamp($2::float8 / 1000) AND started_at < to_timestamp($3::float8 / 1000)
     ORDER BY started_at`,
    [modelId, createdAtMs, endMs, id, firstId, endId],
  );
  if ((rows[0]?.looks ?? 0) > maxLooks) return [];
  const points = rows.map(({ at }, i) => ({ at, position: position + rows.length - 1 - i }));
  const every = Math.max(1, Math.ceil(points.length / maxPoints));
  const kept = points.filter((_, i) => i === points.length - 1 || i % every === 0);
  return [{ at: new Date(createdAtMs), position: position + rows.length }, ...kept];
}

import type { DataSource } from 'typeorm';
import { bySpan, type DaySpan, statementOfDays, withinSpan } from '../../database/days.js';
import type { DeliveryState, WebhookTry } from '../entities/webhook-delivery.entity.js';

/*
 * Reads the deliveries of all keys for operators, those of the newest requests first. The texts differ with the filter,
 *   so that the planner sees only the conditions that matter.
 * Race: none (read only).
 */

/** Selects deliveries. A field that is undefined does not matter. */
export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  endpointId?: string | undefined;
  /** The host with its port, in lower case. */
  host?: string | undefined;
  keyId?: string | undefined;
  requestId?: string | undefined;
}

export interface DeliveryPosition {
  requestId: string;
  id: string;
}

export interface OperatorDelivery extends DeliveryPosition {
  event: string;
  keyId: string;
  keyName: string | null;
  modelId: string | null;
  endpointId: string | null;
  url: string;
  state: DeliveryState;
  tries: WebhookTry[];
  nextTryAt: Date;
  createdAt: Date;
}

export interface DeliveryPage {
  filter: DeliveryFilter;
  before: DeliveryPosition;
  max: number;
  /** At most this many rows are read. */
  maxLooks: number;
  /** True if there are few enough pending deliveries to sort all of them. */
  isFewPending: boolean;
}

const columns =
  'request_id, id, event, api_key_id, endpoint_id, url, host, state, tries, next_try_at, created_at';

/** Returns whether a list looks for deliveries by the requests and batches of their key, in spans of days. */
export const isReadByKey = ({ filter: { keyId, requestId, state }, isFewPending }: DeliveryPage): boolean =>
  keyId !== undefined &&
  requestId === undefined &&
  state !== 'failed' &&
  state !== 'ended' &&
  !(state === 'pending' && isFewPending);

/** The deliveries of one key, before the position. Requests and batches without a delivery count as looks too. */
function ofKey(span: DaySpan, keyId: string, requestId: string, before: string, looks: string): string {
  const newest = (table: string): string => `(
    SELECT id FROM ${table} WHERE api_key_id = ${keyId} AND id <= ${requestId} AND ${withinSpan(span)('id')}
    ORDER BY ${table}.id DESC LIMIT ${looks}
  )`;
  return `
  SELECT source.id AS request_id, delivery.id, event, delivery.api_key_id, endpoint_id, url, host, delivery.state,
         tries, next_try_at, delivery.created_at
  FROM (${newest('request')} UNION ALL ${newest('batch')} ORDER BY id DESC LIMIT ${looks}) AS source
  LEFT JOIN LATERAL (
    SELECT * FROM webhook_delivery WHERE webhook_delivery.request_id = source.id AND ${before} ORDER BY id DESC
  ) AS delivery ON true
  ORDER BY source.id DESC, delivery.id DESC`;
}

/*
 * Purpose: reads the models of requests.
 * Race: none (read only).
 * Index: request_pkey, in the days of the ids.
 */
const modelsStatement = statementOfDays(
  'models_of_deliveries',
  (within) => `SELECT id, model_id AS "modelId" FROM request WHERE id = ANY ($1::uuid[]) AND ${within('id')}`,
);

/** Adds the models of the requests. Those of batches, and of requests that are gone, have none. */
async function withModels<Row extends { requestId: string }>(
  source: DataSource,
  rows: readonly Row[],
): Promise<(Row & { modelId: string | null })[]> {
  const models = new Map<string, string>();
  for (const some of bySpan(rows, (row) => row.requestId)) {
    const ids = some.map(({ requestId }) => requestId);
    const found = await source.query<{ id: string; modelId: string }[]>(modelsStatement(...ids).text, [ids]);
    for (const { id, modelId } of found) models.set(id, modelId);
  }
  return rows.map((row) => ({ ...row, modelId: models.get(row.requestId) ?? null }));
}

/** A row of a list. `fits`: false for the last row that was read, if it is not part of the list. */
export type ListedDelivery = OperatorDelivery & { looks: number; fits: boolean };

/** `span`: the days of a list that is read by the key. */
export async function listDeliveries(
  source: DataSource,
  page: DeliveryPage,
  span: DaySpan | undefined,
): Promise<ListedDelivery[]> {
  const { filter, before, max, maxLooks, isFewPending } = page;
  const values: unknown[] = [];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const [requestId, id, looks] = [
    bind(before.requestId, 'uuid'),
    bind(before.id, 'uuid'),
    bind(maxLooks, 'integer'),
  ];
  const isBefore = `(request_id, id) < (${requestId}, ${id})`;
  const conditions = ['delivery.id IS NOT NULL'];
  const equal = (column: string, value: unknown, type: string): void => {
    if (value !== undefined) conditions.push(`delivery.${column} = ${bind(value, type)}`);
  };
  equal('state', filter.state, 'text');
  equal('endpoint_id', filter.endpointId, 'uuid');
  equal('host', filter.host, 'text');
  equal('api_key_id', filter.keyId, 'uuid');
  const byKey = `WHERE ${isBefore} ORDER BY request_id DESC, id DESC`;
  const from = (where: string): string => `SELECT ${columns} FROM webhook_delivery ${where}`;
  const rows = ((): string => {
    if (filter.requestId !== undefined)
      return from(`WHERE request_id = ${bind(filter.requestId, 'uuid')} AND ${isBefore} ORDER BY id DESC`);
    if (filter.state === 'failed' || filter.state === 'ended')
      return from(byKey.replace('WHERE', `WHERE state IN ('failed', 'ended') AND`));
    if (filter.state === 'pending' && isFewPending)
      return `SELECT * FROM (${from(`WHERE state = 'pending' OFFSET 0`)}) AS pending ${byKey}`;
    if (span !== undefined) return ofKey(span, bind(filter.keyId, 'uuid'), requestId, isBefore, looks);
    return from(byKey);
  })();
  const found = await source.query<Omit<ListedDelivery, 'modelId'>[]>(
    `SELECT request_id AS "requestId", coalesce(id, '00000000-0000-0000-0000-000000000000'::uuid) AS id,
       api_key_id AS "keyId", (SELECT name FROM api_key WHERE api_key.id = api_key_id) AS "keyName",
       endpoint_id AS "endpointId", event, url, state, tries, next_try_at AS "nextTryAt", created_at AS "createdAt",
       looks::integer AS looks, fits
     FROM (
       SELECT *, row_number() OVER (ORDER BY request_id DESC, id DESC) AS looks, (${conditions.join(' AND ')}) AS fits
       FROM (${rows} LIMIT ${looks}) AS delivery
     ) AS delivery
     WHERE fits OR looks = ${looks} ORDER BY looks LIMIT ${bind(max, 'integer')}`,
    values,
  );
  return withModels(source, found);
}

/** Counts at most `max`. Index: webhook_delivery_pending. */
export async function countPending(source: DataSource, max: number): Promise<number> {
  const [row] = await source.query<{ count: number }[]>(
    `SELECT count(*)::integer AS count FROM (
       SELECT FROM webhook_delivery WHERE state = 'pending' ORDER BY host, api_key_id LIMIT $1::integer
     ) AS pending`,
    [max],
  );
  return row!.count;
}

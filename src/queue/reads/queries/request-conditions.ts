import type { Within } from '../../../database/days.js';
import { errorCode } from '../request-columns.js';
import type { OperatorFilter } from '../request-filter.js';

/** Collects values in the order in which the statement names them. */
export class Values {
  readonly list: unknown[] = [];

  bind(value: unknown, type: string): string {
    return `$${this.list.push(value)}::${type}`;
  }
}

/** Returns the condition that a run is of a node or a worker of this name. */
export function isNode(name: string, values: Values): string {
  const named = values.bind(name, 'text');
  return `(coalesce(node_id, worker_id) = ANY (ARRAY (SELECT id FROM node_name WHERE name = ${named})))`;
}

/** Returns the condition that a row of `request` matches the filter. */
export function conditionsOf(filter: OperatorFilter, values: Values, within: Within): string {
  const conditions: string[] = [];
  const equal = (column: string, value: unknown, type: string): void => {
    if (value !== undefined) conditions.push(`${column} = ${values.bind(value, type)}`);
  };
  equal('request.model_id', filter.modelId, 'text');
  equal('request.state', filter.state, 'text');
  equal('request.outcome', filter.outcome, 'text');
  equal('request.api_key_id', filter.keyId, 'uuid');
  equal(errorCode, filter.code, 'text');
  const time = (is: string, ms: number | undefined): void => {
    if (ms !== undefined) conditions.push(`${is} to_timestamp(${values.bind(ms / 1_000, 'float8')})`);
  };
  time('request.created_at >=', filter.createdAfterMs);
  time('request.created_at <', filter.createdBeforeMs);
  time('request.completed_at <', filter.completedBeforeMs);
  if (filter.isOpen === true) conditions.push(`request.state <> 'COMPLETED'`);
  if (filter.isKept === true) conditions.push(`request.state = 'COMPLETED' AND request.erased_at IS NULL`);
  if (filter.tags !== undefined) conditions.push(`request.tags @> ${values.bind(filter.tags, 'text[]')}`);
  if (filter.node !== undefined) {
    // Not EXISTS: for that, the planner would read all attempts.
    const of = (table: string): string =>
      `SELECT node_id, worker_id FROM ${table} WHERE ${table}.request_id = request.id`;
    const runs = `${of('attempt')} AND ${within('attempt.request_id')} UNION ALL ${of('lease')}`;
    conditions.push(`(SELECT bool_or(${isNode(filter.node, values)}) FROM (${runs}) AS run)`);
  }
  return ['request.id IS NOT NULL', ...conditions].join(' AND ');
}

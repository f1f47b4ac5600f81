import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { plainTransaction } from '../database/plain-transaction.js';
import { OperatorRequests, type SliceWriter } from '../queue/reads/operator-requests.js';
import type { OperatorFilter } from '../queue/reads/request-filter.js';
import type { OperationAction, OperationState } from './entities/operation.entity.js';
import { claimLife } from './queries/steps.js';

interface Collecting {
  state: OperationState;
  action: OperationAction;
  filter: OperatorFilter;
  collectedTo: string | null;
  startedMs: number;
}

@Injectable()
export class OperationCollector {
  /** At most this many rows are read per slice. */
  maxLooks = 20_000;

  constructor(
    private readonly source: DataSource,
    private readonly all: OperatorRequests,
  ) {}

  /**
   * Collects one slice of members and commits it with its progress. The row's lock excludes a stop, and a node that
   * took the operation over. `looks`: at most this many rows are read. Returns the new state. null: another node has the
   * operation.
   */
  step(id: string, nodeId: string, looks = this.maxLooks): Promise<OperationState | null> {
    return plainTransaction(this.source, async (manager) => {
      const [row] = await manager.query<Collecting[]>(
        `SELECT state, action, filter, collected_to AS "collectedTo",
                extract(epoch FROM created_at)::float8 * 1000 AS "startedMs"
         FROM operation WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL FOR UPDATE`,
        [id, nodeId],
      );
      if (row === undefined) return null;
      if (row.state !== 'collecting') return row.state;
      const filter = frozen(qualifying(row.action, row.filter), row.startedMs);
      const slice = await this.all.slice(
        filter,
        { before: row.collectedTo, looks },
        manager,
        memberWriter(id),
      );
      const state = slice.isLast ? 'running' : 'collecting';
      await manager.query(
        `UPDATE operation SET total = total + $2, collected_to = coalesce($3, collected_to), state = $4,
           claimed_until = clock_timestamp() + interval '${claimLife}'
         WHERE id = $1`,
        [id, slice.written, slice.lastId, state],
      );
      return state;
    });
  }
}

/**
 * Narrows the filter to requests that the action applies to, so that thousands of others are not counted as skipped.
 */
export function qualifying(action: OperationAction, filter: OperatorFilter): OperatorFilter {
  return action === 'cancel' ? { ...filter, isOpen: true } : { ...filter, isKept: true };
}

/** Excludes requests submitted after the start, and completed ones that completed after it. */
function frozen(filter: OperatorFilter, startedMs: number): OperatorFilter {
  return {
    ...filter,
    createdBeforeMs: Math.min(filter.createdBeforeMs ?? Infinity, startedMs),
    completedBeforeMs: filter.isKept === true ? startedMs : undefined,
  };
}

const memberWriter =
  (operationId: string): SliceWriter =>
  async (manager, text, values) => {
    const rows: { written: number; looks: number; lastId: string | null }[] = await manager.query(
      `WITH slice AS MATERIALIZED (${text}), written AS (
         INSERT INTO operation_member (operation_id, request_id)
         SELECT $${values.length + 1}::uuid, id FROM slice WHERE fits RETURNING request_id
       )
       SELECT (SELECT count(*)::integer FROM written) AS written,
              count(*)::integer AS looks,
              (SELECT id FROM slice ORDER BY looks DESC LIMIT 1) AS "lastId"
       FROM slice`,
      [...values, operationId],
    );
    return rows[0]!;
  };

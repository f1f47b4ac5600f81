import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AllRequests, type SliceWriter } from '../queue/all-requests.js';
import type { AnyRequestFilter } from '../queue/request-filter.js';
import type { OperationAction, OperationState } from './entities/operation.entity.js';
import { claimLife } from './queries/steps.js';

interface Collecting {
  state: OperationState;
  action: OperationAction;
  filter: AnyRequestFilter;
  collectedTo: string | null;
  startedMs: number;
}

/** Finds the members of operations. */
@Injectable()
export class OperationCollector {
  constructor(
    private readonly source: DataSource,
    private readonly all: AllRequests,
  ) {}

  /**
   * A slice of them, in one commit with how far it is; the row's lock holds off a stop, and whoever took it over. What the
   * state is then; null: it is another node's.
   */
  step(id: string, nodeId: string): Promise<OperationState | null> {
    return this.source.transaction(async (manager) => {
      const [row] = await manager.query<Collecting[]>(
        `SELECT state, action, filter, collected_to AS "collectedTo",
                extract(epoch FROM created_at)::float8 * 1000 AS "startedMs"
         FROM operation WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL FOR UPDATE`,
        [id, nodeId],
      );
      if (row === undefined) return null;
      if (row.state !== 'collecting') return row.state;
      const filter = frozen(qualifying(row.action, row.filter), row.startedMs);
      const slice = await this.all.slice(filter, row.collectedTo, manager, memberWriter(id));
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

/** Narrowed to what the action is for, so that nobody is told of thousands that are skipped. */
export function qualifying(action: OperationAction, filter: AnyRequestFilter): AnyRequestFilter {
  return action === 'cancel' ? { ...filter, isOpen: true } : { ...filter, isKept: true };
}

/** What was submitted later is none of it, nor what completed later of those that have to be complete. */
function frozen(filter: AnyRequestFilter, startedMs: number): AnyRequestFilter {
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

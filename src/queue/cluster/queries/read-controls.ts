import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { Overrides } from '../../../models/overrides.js';

/** The settings of operators that every node must know. */
export interface Controls {
  overrides: ReadonlyMap<string, Overrides>;
  /** The nodes that run requests and are not draining. */
  schedulers: string[];
  /** Changes if the slots must be divided again. */
  division: number;
  /** null: this node has no row. */
  isDraining: boolean | null;
}

type Written<T> = { [Name in keyof T]: Date extends T[Name] ? string | null : T[Name] };
interface Row extends Omit<Controls, 'overrides'> {
  overrides: (Written<Overrides> & { id: string })[];
}

/*
 * Purpose: reads what operators have set for models and nodes.
 * Race: none (read only). Claims read for themselves what must hold at once.
 * Index: model_pkey and node_pkey, in full: one row per model of the file, and per node.
 */
const controls = statement('read_controls')`SELECT
  (SELECT coalesce(json_agg(json_build_object(
     'id', id,
     'concurrencyOverride', concurrency_override,
     'concurrencyOverriddenAt', concurrency_overridden_at,
     'concurrencyOverriddenBy', concurrency_overridden_by,
     'paused', paused, 'pausedAt', paused_at, 'pausedBy', paused_by
   )), '[]')
   FROM model
   WHERE paused IS NOT NULL OR concurrency_override IS NOT NULL) AS overrides,
  (SELECT coalesce(sum(coalesce(concurrency_override, concurrency) + slot_round * 1000003::bigint), 0)::bigint
   FROM model) AS division,
  ARRAY (SELECT id::text FROM node WHERE role <> 'api' AND draining_since IS NULL ORDER BY id) AS schedulers,
  (SELECT draining_since IS NOT NULL FROM node WHERE id = $1::uuid) AS "isDraining"`;

export async function readControls(database: Database, nodeId: string): Promise<Controls> {
  const [row] = await database.query<Row>(controls, [nodeId]);
  const overrides = row!.overrides.map(({ id, ...written }): [string, Overrides] => {
    const concurrencyOverriddenAt = toDate(written.concurrencyOverriddenAt);
    return [id, { ...written, concurrencyOverriddenAt, pausedAt: toDate(written.pausedAt) }];
  });
  return { ...row!, overrides: new Map(overrides) };
}

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));

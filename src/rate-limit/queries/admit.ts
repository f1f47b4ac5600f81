import type { Database } from '../../database/database.js';

export interface AdmitAsk {
  /** Its place in the batch, to recognise its row by. */
  ask: number;
  subject: string;
  route_class: string;
  wanted: number;
  /** As many more may be granted, for use until the next bucket ends. */
  spare: number;
  windows_ms: number[];
  limits: number[];
}

export interface AdmitRow {
  ask: number;
  /** Of `wanted` and `spare` together. */
  granted: number;
  /** When it was decided, in microseconds since 1970 by the database's clock. */
  at_us: number;
  /** Per window, after what was granted. */
  remaining: number[];
  /** Per window, until its oldest admission leaves it. */
  reset_ms: number[];
  /** So long may be used what was granted of `spare`. */
  ahead_ms: number;
}

/**
 * Admits as many as every window has room for, for many subjects at once; none is asked for twice in one call.
 *
 * Survives: any number of nodes asking for the same subjects. The rows are locked in one order, so nobody
 * deadlocks, and the time and the counts of a row are read after it is locked. That is why it is a function: in
 * one statement the counts would come from the snapshot taken before the wait, while each statement of a
 * function has a snapshot of its own. A refusal writes nothing, in no window. A row that is pruned meanwhile
 * is made again. A PostgreSQL that crashes: it commits as durably as everything else.
 *
 * Index: rate_usage_pkey. Updates are HOT: the key never changes and the pages are half empty.
 */
export function admit(database: Database, asks: readonly AdmitAsk[]): Promise<AdmitRow[]> {
  return database.query<AdmitRow>(statement, [JSON.stringify(asks)]);
}

const statement = {
  name: 'rate_admit',
  text: `
    SELECT ask, granted, at_us, remaining, reset_ms, bucket_left_ms AS ahead_ms
    FROM rate_admit($1)`,
};

import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { AuditAction } from '../audit-actions.js';

/** Actions whose entries are deleted after some days. The table's trigger refuses to delete others, or earlier. */
const kept: readonly { actions: readonly AuditAction[]; days: number }[] = [
  { actions: ['access.refuse', 'session.refuse', 'request.delete', 'file.delete'], days: 90 },
  { actions: ['session.begin', 'session.end', 'payload.read', 'secret.read', 'audit.export'], days: 400 },
];

const maxRows = 1_000;

/*
 * Purpose: deletes entries that callers can cause without end, once they are old.
 * Race: nodes that prune at once skip each other's rows.
 * Index: audit_entry_by_action; ids are in the order of time.
 */
const pruneStatement = statement('prune_audit')`DELETE FROM audit_entry
WHERE id = ANY (ARRAY (
  SELECT id
  FROM (
    SELECT id, at FROM audit_entry
    WHERE action = $1::text
    ORDER BY id LIMIT $3::integer FOR UPDATE SKIP LOCKED
  ) AS oldest
  WHERE at < now() - $2::integer * interval '1 day'
))
RETURNING id`;

export async function pruneEntries(database: Database): Promise<void> {
  for (const { actions, days } of kept) {
    for (const action of actions) {
      while ((await database.query(pruneStatement, [action, days, maxRows])).length === maxRows);
    }
  }
}

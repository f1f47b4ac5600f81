import pg from 'pg';

/** SQLSTATE with which a standby refuses a write. */
const readOnly = '25006';

/**
 * Refuses a new session on a standby, with the error that a write would get there. A standby may be behind, so that even
 * a read would miss what was answered to a caller. A session that begins on a primary never reaches a standby: a primary
 * that is demoted ends its sessions.
 */
export async function refuseStandby(session: pg.ClientBase): Promise<void> {
  const { rows } = await session.query<{ isStandby: boolean }>('SELECT pg_is_in_recovery() AS "isStandby"');
  if (!rows[0]!.isStandby) return;
  const error = new pg.DatabaseError('the server is a standby, which takes no writes', 0, 'error');
  throw Object.assign(error, { code: readOnly, severity: 'FATAL' });
}

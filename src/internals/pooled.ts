// Relies on a pg internal: a client keeps the process id that the server sent at the start.
import type pg from 'pg';

/**
 * Returns whether a connection leads to a pooler. A pooler sends its own process ids, because it uses many servers in
 * turn.
 */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid !== (client as pg.ClientBase & { processID: number | null }).processID;
}

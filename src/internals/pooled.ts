// Relies on an inside of pg: a client keeps the process id that the server gave it at the start.
import type pg from 'pg';

/** Whether a connection leads to a pooler: one gives out process ids of its own, as it lends many servers in turn. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid !== (client as pg.ClientBase & { processID: number | null }).processID;
}

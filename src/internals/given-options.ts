// Relies on a pg internal: a client keeps the parameters that it connects with.
import type pg from 'pg';

/** Returns the startup options of a client, which are those of its URL or of PGOPTIONS. */
export function givenOptions(client: pg.ClientBase): string {
  const { connectionParameters } = client as pg.ClientBase & { connectionParameters: { options?: string } };
  return connectionParameters.options ?? '';
}

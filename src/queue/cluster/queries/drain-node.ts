import type { EntityManager } from 'typeorm';

/** One process of the service, as operators see it when they drain it. */
export interface NodeState {
  id: string;
  name: string;
  role: string;
  drainingSince: Date | null;
}

const columns = 'node.id, node.name, node.role';

/**
 * Returns the node as it was and as it is. A node that drains already keeps the time since when, and a stopping node
 * keeps draining. undefined: there is no such node.
 */
export async function setDraining(
  manager: EntityManager,
  id: string,
  isDraining: boolean,
): Promise<{ before: NodeState; after: NodeState } | undefined> {
  const [before] = await manager.query<NodeState[]>(
    `SELECT ${columns}, draining_since AS "drainingSince" FROM node WHERE id = $1::uuid FOR UPDATE`,
    [id],
  );
  if (before === undefined) return undefined;
  const [[after]] = await manager.query<[[NodeState]]>(
    `UPDATE node SET draining_since = CASE WHEN $2::boolean OR stopping_since IS NOT NULL THEN coalesce(draining_since, clock_timestamp()) END
     WHERE id = $1::uuid
     RETURNING ${columns}, draining_since AS "drainingSince"`,
    [id, isDraining],
  );
  return { before, after };
}

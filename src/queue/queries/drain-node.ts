import type { EntityManager } from 'typeorm';

/** One process of the service, as far as operators change it. */
export interface NodeState {
  id: string;
  name: string;
  role: string;
  drainingSince: Date | null;
}

const columns = 'node.id, node.name, node.role';

/** As it was, and is. One that drains already does so since then, and one that is stopping goes on draining. undefined: there is no such node. */
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

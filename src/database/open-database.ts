import { migrate, type MigrateOptions } from './migrate.js';
import { reachDatabase, type ReachOptions } from './reach.js';
import type { DatabaseSessions } from './sessions.js';

/** A migrated database. */
export interface OpenDatabase {
  /** Sessions that a pooler may lend to its clients, one transaction at a time. */
  pooled: DatabaseSessions;
  /** Sessions that bypass a pooler, if there is a way. */
  direct: DatabaseSessions;
}

/**
 * Waits for the database, checks that the service can use it, and migrates it, or refuses it if that is not allowed.
 * `directUrl` bypasses a pooler.
 */
export async function openDatabase(
  url: string,
  directUrl: string | undefined,
  options: ReachOptions & Pick<MigrateOptions, 'isAllowed'>,
): Promise<OpenDatabase> {
  const direct = await reachDatabase(directUrl ?? url, options);
  await migrate(direct, options);
  return { direct, pooled: directUrl === undefined ? direct : await reachDatabase(url, options) };
}

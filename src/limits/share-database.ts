import type { Database } from '../database/database.js';
import { grantShares } from './queries/grant-shares.js';
import { registerHolder } from './queries/register-holder.js';
import { leaveShares, pruneShares, writeShares } from './queries/write-shares.js';
import type { ShareStore } from './share-store.js';

/** The shares as PostgreSQL keeps them. */
export function shareDatabase(database: Database, nodeId: string): ShareStore {
  return {
    register: (holder) => registerHolder(database, holder, nodeId),
    grant: (holder, requests, gone) => grantShares(database, holder, requests, gone),
    write: (holder, request) => writeShares(database, holder, request),
    prune: (holders) => pruneShares(database, holders),
    leave: (holder, rows) => leaveShares(database, holder, rows),
  };
}

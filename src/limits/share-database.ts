import { In, type Repository } from 'typeorm';
import type { Database } from '../database/database.js';
import type { LimitAskEntity } from './entities/limit-ask.entity.js';
import type { LimitShareEntity } from './entities/limit-share.entity.js';
import { grantShares } from './queries/grant-shares.js';
import { registerHolder } from './queries/register-holder.js';
import { leaveShares, writeShares } from './queries/write-shares.js';
import type { ShareStore } from './share-store.js';

export interface ShareRows {
  shares: Repository<LimitShareEntity>;
  asks: Repository<LimitAskEntity>;
}

/** The shares as PostgreSQL keeps them. */
export function shareDatabase(database: Database, rows: ShareRows, nodeId: string): ShareStore {
  return {
    register: (holder) => registerHolder(database, holder, nodeId),
    grant: (holder, requests, gone) => grantShares(database, holder, requests, gone),
    write: (holder, request) => writeShares(database, holder, request),
    prune: async (holders) => {
      const rowsOf = { holderId: In(holders) };
      await Promise.all([rows.asks.delete(rowsOf), rows.shares.delete(rowsOf)]);
    },
    leave: (holder, rows) => leaveShares(database, holder, rows),
  };
}

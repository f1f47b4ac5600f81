import { Injectable } from '@nestjs/common';
import { ObservingDatabase } from '../database/observing-database.js';
import { WaitingIndex } from '../queue/waiting/waiting-index.js';
import { Recent } from '../tools/recent.js';
import {
  type ClusterSnapshot,
  readClusterSnapshot,
  readUpkeep,
  type Upkeep,
} from './queries/cluster-snapshot.js';
import { type NodeTimes, readNodeTimes } from './queries/node-times.js';
import { readRecentEnds, type RecentEnds } from './queries/recent-ends.js';

export type { NodeTimes } from './queries/node-times.js';
export type { RecentEnds } from './queries/recent-ends.js';
export type { ClusterSnapshot, Upkeep } from './queries/cluster-snapshot.js';

const snapshotAgeMs = 1_000;
const upkeepAgeMs = 10_000;
const timesAgeMs = 30_000;
const endsAgeMs = 5_000;

/** The state of all nodes. It is read only while there are readers, once for all of them. */
@Injectable()
export class ClusterSnapshots {
  private readonly snapshot: Recent<ClusterSnapshot>;
  private readonly upkeep: Recent<Upkeep>;
  private readonly times: Recent<NodeTimes[]>;
  private readonly ends: Recent<RecentEnds[]>;

  constructor(database: ObservingDatabase, index: WaitingIndex) {
    this.snapshot = new Recent(snapshotAgeMs, () => readClusterSnapshot(database, index.oldest()));
    this.upkeep = new Recent(upkeepAgeMs, () => readUpkeep(database));
    this.times = new Recent(timesAgeMs, () => readNodeTimes(database));
    this.ends = new Recent(endsAgeMs, () => readRecentEnds(database));
  }

  get(): Promise<ClusterSnapshot> {
    return this.snapshot.get();
  }

  getUpkeep(): Promise<Upkeep> {
    return this.upkeep.get();
  }

  /** How long runs take on each node. */
  getTimes(): Promise<NodeTimes[]> {
    return this.times.get();
  }

  /** How the last runs of each model ended. */
  getEnds(): Promise<RecentEnds[]> {
    return this.ends.get();
  }
}

import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { Activity } from './activity.js';
import { ClusterSnapshots } from './cluster-snapshots.js';
import { KeyUse } from './key-use.js';

/** The parts that every node has, even one that serves no calls. */
@Module({
  imports: [QueueModule],
  providers: [Activity, ClusterSnapshots, KeyUse],
  exports: [Activity, ClusterSnapshots, KeyUse],
})
export class OverviewCoreModule {}

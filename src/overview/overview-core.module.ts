import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { ClusterSnapshots } from './cluster-snapshots.js';

/** What every node has, also one that serves no calls. */
@Module({ imports: [QueueModule], providers: [ClusterSnapshots], exports: [ClusterSnapshots] })
export class OverviewCoreModule {}

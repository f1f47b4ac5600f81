import { Module } from '@nestjs/common';
import { Cluster } from './cluster.js';
import { ClusterMessages } from './cluster-messages.js';
import { Expirer } from './duties/expirer.js';
import { Heartbeat } from './duties/heartbeat.js';
import { OrphanKeeper } from './duties/orphan-keeper.js';
import { PartitionKeeper } from './duties/partition-keeper.js';
import { Promoter } from './duties/promoter.js';
import { Pruner } from './duties/pruner.js';
import { Rescuer } from './duties/rescuer.js';
import { Scheduler } from './duties/scheduler.js';
import { SlotKeeper } from './duties/slot-keeper.js';
import { LineKeeper } from './line-keeper.js';
import { Lines } from './lines.js';
import { NodeIdentity } from './node-identity.js';
import { QueueEvents } from './queue-events.js';
import { QueueLifecycle } from './queue-lifecycle.js';
import { QueueService } from './queue.service.js';
import { RequestIds } from './request-id.js';
import { Retention } from './retention.js';
import { RunnerRegistry } from './runner-registry.js';
import { Runs } from './runs.js';
import { SharedStatements } from './shared-statements.js';
import { Slots } from './slots.js';
import { Submissions } from './submissions.js';

@Module({
  providers: [
    Cluster,
    ClusterMessages,
    Expirer,
    Heartbeat,
    LineKeeper,
    Lines,
    NodeIdentity,
    OrphanKeeper,
    PartitionKeeper,
    Promoter,
    Pruner,
    QueueEvents,
    QueueLifecycle,
    QueueService,
    RequestIds,
    Rescuer,
    Retention,
    RunnerRegistry,
    Runs,
    Scheduler,
    SharedStatements,
    SlotKeeper,
    Slots,
    Submissions,
  ],
  exports: [NodeIdentity, QueueEvents, QueueLifecycle, QueueService, Retention, RunnerRegistry],
})
export class QueueModule {}

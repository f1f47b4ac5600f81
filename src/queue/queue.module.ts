import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Cluster } from './cluster/cluster.js';
import { ClusterMessages } from './cluster/cluster-messages.js';
import { Expirer } from './duties/expirer.js';
import { Heartbeat } from './duties/heartbeat.js';
import { OrphanKeeper } from './duties/orphan-keeper.js';
import { PartitionKeeper } from './duties/partition-keeper.js';
import { Promoter } from './duties/promoter.js';
import { Pruner } from './duties/pruner.js';
import { Rescuer } from './duties/rescuer.js';
import { Scheduler } from './duties/scheduler.js';
import { SlotKeeper } from './duties/slot-keeper.js';
import { IndexSync } from './duties/index-sync.js';
import { Dispatcher } from './runs/dispatcher.js';
import { IdempotencyKeyEntity } from './entities/idempotency-key.entity.js';
import { LeaseEntity } from './entities/lease.entity.js';
import { RequestEntity } from './entities/request.entity.js';
import { RequestEventEntity } from './entities/request-event.entity.js';
import { WaitingIndex } from './waiting/waiting-index.js';
import { NodeIdentity } from './cluster/node-identity.js';
import { QueueEvents } from './queue-events.js';
import { QueueStore } from './queue-store.js';
import { QueueLifecycle } from './queue-lifecycle.js';
import { QueueService } from './queue.service.js';
import { RequestIds } from './submit/request-id.js';
import { RequestLog } from './request-log.js';
import { Retention } from './retention.js';
import { RunnerRegistry } from './runs/runner-registry.js';
import { Runs } from './runs/runs.js';
import { SharedStatements } from './shared-statements.js';
import { Slots } from './cluster/slots.js';
import { Submissions } from './submit/submissions.js';

@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKeyEntity, LeaseEntity, RequestEntity, RequestEventEntity])],
  providers: [
    Cluster,
    ClusterMessages,
    Dispatcher,
    Expirer,
    Heartbeat,
    IndexSync,
    WaitingIndex,
    NodeIdentity,
    OrphanKeeper,
    PartitionKeeper,
    Promoter,
    Pruner,
    QueueEvents,
    QueueLifecycle,
    QueueService,
    QueueStore,
    RequestIds,
    RequestLog,
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
  exports: [NodeIdentity, QueueEvents, QueueLifecycle, QueueService, Retention, RunnerRegistry, Submissions],
})
export class QueueModule {}

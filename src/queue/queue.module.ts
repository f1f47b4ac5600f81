import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { Expirer } from './duties/expirer.js';
import { PartitionKeeper } from './duties/partition-keeper.js';
import { Promoter } from './duties/promoter.js';
import { Scheduler } from './duties/scheduler.js';
import { LineKeeper } from './line-keeper.js';
import { Lines } from './lines.js';
import { NodeIdentity } from './node-identity.js';
import { QueueEvents } from './queue-events.js';
import { QueueLifecycle } from './queue-lifecycle.js';
import { QueueService } from './queue.service.js';
import { RequestIds } from './request-id.js';
import { RunnerRegistry } from './runner-registry.js';
import { Runs } from './runs.js';
import { SharedStatements } from './shared-statements.js';

@Module({
  imports: [ModelsModule],
  providers: [
    Expirer,
    LineKeeper,
    Lines,
    NodeIdentity,
    PartitionKeeper,
    Promoter,
    QueueEvents,
    QueueLifecycle,
    QueueService,
    RequestIds,
    RunnerRegistry,
    Runs,
    Scheduler,
    SharedStatements,
  ],
  exports: [NodeIdentity, QueueEvents, QueueLifecycle, QueueService, RunnerRegistry],
})
export class QueueModule {}

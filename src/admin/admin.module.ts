import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { OverviewModule } from '../overview/overview.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { AccessModule } from './access.module.js';
import { LiveController } from './live/live.controller.js';
import { OverviewSource } from './live/overview-source.js';
import { QueueViews } from './live/queue-views.js';
import { ModelControl } from './model-control.js';
import { AdminModelsController } from './models.controller.js';
import { ModelsReloadModule } from './models-reload.module.js';
import { Nodes } from './nodes/nodes.js';
import { NodesController } from './nodes/nodes.controller.js';
import { AnyRequestsModule } from './requests/any-requests.module.js';
import { AnyWebhooksModule } from './webhooks/any-webhooks.module.js';
import { Workers } from './workers/workers.js';
import { AdminWorkersController } from './workers/workers.controller.js';

/** The routes of `/v1/admin`. */
@Module({
  imports: [
    AccessModule,
    AnyRequestsModule,
    AnyWebhooksModule,
    FilesModule,
    LimitsModule,
    QueueModule,
    ModelsReloadModule,
    OverviewModule,
  ],
  controllers: [AdminModelsController, AdminWorkersController, LiveController, NodesController],
  providers: [ModelControl, Nodes, OverviewSource, QueueViews, Workers],
})
export class AdminModule {}

import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BatchesModule } from '../batches/batches.module.js';
import { FilesModule } from '../files/files.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { OverviewModule } from '../overview/overview.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { StreamModule } from '../stream/stream.module.js';
import { DeliveriesModule } from '../webhooks/deliveries.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AuditController } from './audit/audit.controller.js';
import { AdminBatches } from './batches/batches.js';
import { AdminBatchesController } from './batches/batches.controller.js';
import { KeySecrets } from './keys/key-secrets.js';
import { Keys } from './keys/keys.js';
import { KeysController } from './keys/keys.controller.js';
import { LiveController } from './live/live.controller.js';
import { OverviewSource } from './live/overview-source.js';
import { QueueViews } from './live/queue-views.js';
import { ModelControl } from './models/model-control.js';
import { AdminModelsController } from './models/models.controller.js';
import { ModelsReloadModule } from './models/models-reload.module.js';
import { Nodes } from './nodes/nodes.js';
import { NodesController } from './nodes/nodes.controller.js';
import { OperationCalls } from './operations/operation-calls.js';
import { OperationsController } from './operations/operations.controller.js';
import { AdminPayloadsController } from './requests/payloads.controller.js';
import { AdminRequestLists } from './requests/request-lists.js';
import { AdminRequests } from './requests/requests.js';
import { AdminRequestsController } from './requests/requests.controller.js';
import { Oidc } from './sessions/oidc/oidc.js';
import { OidcController } from './sessions/oidc/oidc.controller.js';
import { OidcStates } from './sessions/oidc/oidc-state.js';
import { OidcUsers } from './sessions/oidc/oidc-users.js';
import { OidcProvider } from './sessions/oidc/provider.js';
import { SessionController } from './sessions/session.controller.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SignIn } from './sessions/sign-in.js';
import { AdminDeliveries } from './webhooks/deliveries.js';
import { AdminDeliveriesController } from './webhooks/deliveries.controller.js';
import { Receivers } from './webhooks/receivers.js';
import { ReceiversController } from './webhooks/receivers.controller.js';
import { Workers } from './workers/workers.js';
import { AdminWorkersController } from './workers/workers.controller.js';

/** The routes of `/v1/admin`. */
@Module({
  imports: [
    AuthModule,
    BatchesModule,
    DeliveriesModule,
    FilesModule,
    LimitsModule,
    ModelsReloadModule,
    OperationsModule,
    OverviewModule,
    QueueModule,
    RequestsModule,
    StreamModule,
    WebhooksModule,
  ],
  // In this order the API description has their routes.
  controllers: [
    AdminModelsController,
    AdminWorkersController,
    LiveController,
    NodesController,
    SessionController,
    OidcController,
    SessionsController,
    KeysController,
    AuditController,
    AdminRequestsController,
    AdminPayloadsController,
    OperationsController,
    AdminBatchesController,
    AdminDeliveriesController,
    ReceiversController,
  ],
  providers: [
    AdminBatches,
    AdminDeliveries,
    AdminRequestLists,
    AdminRequests,
    Keys,
    KeySecrets,
    ModelControl,
    Nodes,
    Oidc,
    OidcProvider,
    OidcStates,
    OidcUsers,
    OperationCalls,
    OverviewSource,
    QueueViews,
    Receivers,
    SignIn,
    Workers,
  ],
})
export class AdminModule {}

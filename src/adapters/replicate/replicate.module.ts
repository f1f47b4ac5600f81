import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { FilesModule } from '../../files/files.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { QueueModule } from '../../queue/queue.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { StreamModule } from '../../stream/stream.module.js';
import { WebhooksModule } from '../../webhooks/webhooks.module.js';
import { HeldCallsModule } from '../held-calls.module.js';
import { refuseNul } from '../refuse-nul.js';
import { PredictionStreams } from './prediction-streams.js';
import { ReplicateController } from './replicate.controller.js';
import { ReplicateFiles } from './replicate-files.js';
import { ReplicateHandlers } from './replicate-handlers.js';
import { ReplicateModels } from './replicate-models.js';
import { StreamUrls } from './stream-urls.js';

@Module({
  imports: [
    AuthModule,
    FilesModule,
    HeldCallsModule,
    LimitsModule,
    QueueModule,
    RequestsModule,
    StreamModule,
    WebhooksModule,
  ],
  controllers: [ReplicateController],
  providers: [PredictionStreams, ReplicateFiles, ReplicateHandlers, ReplicateModels, StreamUrls],
})
export class ReplicateModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(refuseNul).forRoutes('replicate');
  }
}

import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { BatchesModule } from '../../batches/batches.module.js';
import { FilesModule } from '../../files/files.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { QueueModule } from '../../queue/queue.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { StreamModule } from '../../stream/stream.module.js';
import { HeldCallsModule } from '../held-calls.module.js';
import { refuseNul } from '../refuse-nul.js';
import { BatchFiles } from './batch-files.js';
import { OpenAiBatches } from './batches.js';
import { CallBodies } from './call-body.js';
import { OpenAiFiles } from './kept-files.js';
import { ModelCalls } from './model-calls.js';
import { OpenAiModels } from './models.js';
import { OpenAiController } from './openai.controller.js';
import { Responses } from './responses.js';

@Module({
  imports: [
    AuthModule,
    BatchesModule,
    FilesModule,
    HeldCallsModule,
    LimitsModule,
    QueueModule,
    RequestsModule,
    StreamModule,
  ],
  controllers: [OpenAiController],
  providers: [BatchFiles, CallBodies, ModelCalls, OpenAiBatches, OpenAiFiles, OpenAiModels, Responses],
})
export class OpenAiModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(refuseNul).forRoutes('openai');
  }
}

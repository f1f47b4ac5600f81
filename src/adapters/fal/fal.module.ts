import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { FilesModule } from '../../files/files.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { QueueModule } from '../../queue/queue.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { StreamModule } from '../../stream/stream.module.js';
import { HeldCallsModule } from '../held-calls.module.js';
import { refuseNul } from '../refuse-nul.js';
import { FalController } from './fal.controller.js';
import { FalHandlers } from './fal-handlers.js';
import { followTarget } from './follow-target.js';

@Module({
  imports: [
    AuthModule,
    FilesModule,
    HeldCallsModule,
    QueueModule,
    LimitsModule,
    RequestsModule,
    StreamModule,
  ],
  controllers: [FalController],
  providers: [FalHandlers],
})
export class FalModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(followTarget, refuseNul).forRoutes('fal');
  }
}

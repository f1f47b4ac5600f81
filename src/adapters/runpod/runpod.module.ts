import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { OverviewCoreModule } from '../../overview/overview-core.module.js';
import { QueueModule } from '../../queue/queue.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { StreamModule } from '../../stream/stream.module.js';
import { HeldCallsModule } from '../held-calls.module.js';
import { refuseNul } from '../refuse-nul.js';
import { EndpointHealth } from './endpoint-health.js';
import { RunpodController } from './runpod.controller.js';
import { RunpodHandlers } from './runpod-handlers.js';

@Module({
  imports: [
    AuthModule,
    HeldCallsModule,
    LimitsModule,
    OverviewCoreModule,
    QueueModule,
    RequestsModule,
    StreamModule,
  ],
  controllers: [RunpodController],
  providers: [EndpointHealth, RunpodHandlers],
})
export class RunpodModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(refuseNul).forRoutes('runpod');
  }
}

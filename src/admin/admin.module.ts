import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { AccessModule } from './access.module.js';
import { ModelControl } from './model-control.js';
import { AdminModelsController } from './models.controller.js';
import { ModelsReloadModule } from './models-reload.module.js';
import { NodeDrainController } from './node-drain.controller.js';
import { AnyRequestsModule } from './requests/any-requests.module.js';

/** The routes of `/v1/admin`. */
@Module({
  imports: [AccessModule, AnyRequestsModule, LimitsModule, QueueModule, ModelsReloadModule],
  controllers: [AdminModelsController, NodeDrainController],
  providers: [ModelControl],
})
export class AdminModule {}

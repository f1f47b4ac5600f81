import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { FilesModule } from '../files/files.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { KeyController } from './key.controller.js';
import { ModelsController } from './models.controller.js';

@Module({
  imports: [AuthModule, FilesModule, LimitsModule, QueueModule, RequestsModule, WebhooksModule],
  controllers: [ModelsController, KeyController],
})
export class DiscoveryModule {}

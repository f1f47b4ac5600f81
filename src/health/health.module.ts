import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({
  imports: [FilesModule, QueueModule],
  controllers: [HealthController],
  providers: [Readiness],
})
export class HealthModule {}

import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { FastPath } from './fast-path.js';
import { RequestsController } from './requests.controller.js';
import { RequestsService } from './requests.service.js';

@Module({
  imports: [AuthModule, QueueModule, RateLimitModule],
  controllers: [RequestsController],
  providers: [RequestsService, FastPath],
  exports: [RequestsService],
})
export class RequestsModule {}

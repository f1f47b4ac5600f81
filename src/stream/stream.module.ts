import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { StatusSources } from './status-sources.js';
import { StreamController } from './stream.controller.js';

@Module({
  imports: [AuthModule, QueueModule, RateLimitModule, RequestsModule],
  controllers: [StreamController],
  providers: [StatusSources],
  exports: [StatusSources],
})
export class StreamModule {}

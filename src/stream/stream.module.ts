import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { OutputPolls } from './output-polls.js';
import { OutputStreams } from './output-streams.js';
import { StatusStreams } from './status-streams.js';
import { StreamController } from './stream.controller.js';

@Module({
  imports: [AuthModule, QueueModule, LimitsModule, RequestsModule],
  controllers: [StreamController],
  providers: [OutputPolls, OutputStreams, StatusStreams],
  exports: [OutputPolls, OutputStreams, StatusStreams],
})
export class StreamModule {}

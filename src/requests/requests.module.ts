import { Module } from '@nestjs/common';
import { AddressesModule } from '../addresses/addresses.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { Batch } from './batch.js';
import { CollectionController } from './collection.controller.js';
import { CollectionHandlers } from './collection-handlers.js';
import { FastPath } from './fast-path.js';
import { LongPolls } from './long-polls.js';
import { NewRequestsModule } from './new-requests.module.js';
import { RequestHandlers } from './request-handlers.js';
import { RequestsController } from './requests.controller.js';

@Module({
  imports: [AddressesModule, AuthModule, NewRequestsModule, QueueModule, LimitsModule],
  // CollectionController comes first, because submissions have a wildcard route.
  controllers: [CollectionController, RequestsController],
  providers: [Batch, CollectionHandlers, FastPath, LongPolls, RequestHandlers],
  exports: [CollectionHandlers, LongPolls, NewRequestsModule, RequestHandlers],
})
export class RequestsModule {}

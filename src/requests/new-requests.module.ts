import { Module } from '@nestjs/common';
import { AddressesModule } from '../addresses/addresses.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { NewRequests } from './new-requests.js';
import { Retries } from './retries.js';

/** Has no routes, for nodes that serve no calls. */
@Module({
  imports: [AddressesModule, QueueModule],
  providers: [NewRequests, Retries],
  exports: [NewRequests, Retries],
})
export class NewRequestsModule {}

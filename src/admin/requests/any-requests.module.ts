import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { OperationsModule } from '../../operations/operations.module.js';
import { QueueModule } from '../../queue/queue.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { StreamModule } from '../../stream/stream.module.js';
import { OperationCalls } from '../operations/operation-calls.js';
import { OperationsController } from '../operations/operations.controller.js';
import { AnyPayloadsController } from './any-payloads.controller.js';
import { AnyRequestLists } from './any-request-lists.js';
import { AnyRequests } from './any-requests.js';
import { AnyRequestsController } from './any-requests.controller.js';

/** The requests of all keys, one by one and in bulk. */
@Module({
  imports: [AuthModule, LimitsModule, OperationsModule, QueueModule, RequestsModule, StreamModule],
  controllers: [AnyRequestsController, AnyPayloadsController, OperationsController],
  providers: [AnyRequestLists, AnyRequests, OperationCalls],
  exports: [AnyRequests],
})
export class AnyRequestsModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueModule } from '../queue/queue.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { AbandonedCalls } from './duties/abandoned-calls.js';
import { AbandonedCallEntity } from './entities/abandoned-call.entity.js';
import { PlannedCancelEntity } from './entities/planned-cancel.entity.js';
import { HeldCalls } from './held-calls.js';
import { RequestEnds } from './request-ends.js';

@Module({
  imports: [
    QueueModule,
    RequestsModule,
    TypeOrmModule.forFeature([AbandonedCallEntity, PlannedCancelEntity]),
  ],
  providers: [AbandonedCalls, HeldCalls, RequestEnds],
  exports: [AbandonedCalls, HeldCalls, RequestEnds],
})
export class HeldCallsModule {}

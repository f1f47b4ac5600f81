import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { NewRequestsModule } from '../requests/new-requests.module.js';
import { OperationActions } from './actions.js';
import { OperationEntity } from './entities/operation.entity.js';
import { OperationCollector } from './operation-collector.js';
import { OperationRunner } from './duties/operation-runner.js';
import { Operations } from './operations.js';

@Module({
  imports: [AuthModule, QueueModule, NewRequestsModule, TypeOrmModule.forFeature([OperationEntity])],
  providers: [OperationActions, OperationCollector, OperationRunner, Operations],
  exports: [Operations],
})
export class OperationsModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { OperationActions } from './actions.js';
import { OperationEntity } from './entities/operation.entity.js';
import { OperationRunner } from './operation-runner.js';
import { Operations } from './operations.js';

@Module({
  imports: [AuthModule, QueueModule, RequestsModule, TypeOrmModule.forFeature([OperationEntity])],
  providers: [OperationActions, OperationRunner, Operations],
  exports: [Operations],
})
export class OperationsModule {}

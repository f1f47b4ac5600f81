import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WorkerCalls } from './worker-calls.js';
import { WorkerRunCalls } from './worker-run-calls.js';
import { WorkerRunsController } from './worker-runs.controller.js';
import { WorkersController } from './workers.controller.js';

@Module({
  imports: [FilesModule, LimitsModule, QueueModule],
  controllers: [WorkersController, WorkerRunsController],
  providers: [WorkerCalls, WorkerRunCalls],
})
export class WorkersModule {}

import { Module } from '@nestjs/common';
import { BatchBodies } from './batch-bodies.js';
import { BatchesController } from './batches.controller.js';
import { BatchesModule } from './batches.module.js';

/** The calls about batches, on nodes that serve calls. */
@Module({ imports: [BatchesModule], controllers: [BatchesController], providers: [BatchBodies] })
export class BatchesHttpModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { FilesModule } from '../files/files.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { NewRequestsModule } from '../requests/new-requests.module.js';
import { WebhookBodies } from '../webhooks/webhook-bodies.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { BatchInput } from './batch-input.js';
import { batchCompletedBody } from './batch-view.js';
import { Batches } from './batches.js';
import { SegmentWriter } from './segment-writer.js';
import { BatchDriver } from './duties/batch-driver.js';
import { BatchPruner } from './duties/batch-pruner.js';
import { BatchEntity } from './entities/batch.entity.js';
import { BatchLineEntity } from './entities/batch-line.entity.js';
import { BatchSegmentEntity } from './entities/batch-segment.entity.js';
import { ErasedLineEntity } from './entities/erased-line.entity.js';
import { ErasedLines } from './erased-lines.js';
import { LineFormats } from './line-formats.js';
import { LineReader } from './line-reader.js';
import { LineSubmissions } from './line-submissions.js';
import { OperatorBatches } from './operator-batches.js';
import { ownFormat, ownLines } from './own-lines.js';
import { ResultLines } from './result-lines.js';
import { BatchValidation } from './batch-validation.js';

/** Loaded on every node: any that runs requests drives batches, and any delivers their webhooks. */
@Module({
  imports: [
    AuthModule,
    FilesModule,
    LimitsModule,
    NewRequestsModule,
    QueueModule,
    WebhooksModule,
    TypeOrmModule.forFeature([BatchEntity, BatchLineEntity, BatchSegmentEntity, ErasedLineEntity]),
  ],
  providers: [
    BatchDriver,
    BatchInput,
    BatchPruner,
    Batches,
    SegmentWriter,
    ErasedLines,
    LineFormats,
    LineReader,
    LineSubmissions,
    OperatorBatches,
    ResultLines,
    BatchValidation,
  ],
  exports: [Batches, FilesModule, LimitsModule, LineFormats, OperatorBatches],
})
export class BatchesModule {
  constructor(formats: LineFormats, bodies: WebhookBodies, batches: Batches) {
    formats.register(ownFormat, ownLines);
    bodies.registerBatches(async (id, { isOfEndpoint, base }) => {
      const batch = await batches.find(id);
      if (batch === undefined) return undefined;
      const ofFormat = isOfEndpoint ? undefined : formats.find(batch.format)?.webhookBody?.(batch);
      return ofFormat ?? batchCompletedBody(batch, base || (batch.baseUrl ?? ''));
    });
  }
}

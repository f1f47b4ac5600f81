import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CallerWatch } from '../../auth/caller-watch.js';
import type { Caller } from '../../auth/caller.js';
import type { Batch, SegmentKind } from '../../batches/batch.js';
import { Batches } from '../../batches/batches.js';
import { Clock } from '../../database/clock.js';
import { DomainError } from '../../errors/domain-error.js';
import { sendLines } from '../../http/send-lines.js';
import { batchFileName, filesExpireAtMs, toBatchFile } from './batch-view.js';

interface FileOfBatch {
  batchId: string;
  kind: SegmentKind;
}

/** The output and error files of batches, which grow while the batches run. */
@Injectable()
export class BatchFiles {
  constructor(
    private readonly batches: Batches,
    private readonly clock: Clock,
    private readonly watch: CallerWatch,
  ) {}

  async find(caller: Caller, file: FileOfBatch): Promise<object> {
    return toBatchFile(await this.batchOf(caller, file), file.kind);
  }

  /** Sends the lines so far. */
  async send(caller: Caller, file: FileOfBatch, response: Response): Promise<void> {
    const batch = await this.batchOf(caller, file);
    const lines = file.kind === 'output' ? this.batches.readOutput(batch) : this.batches.readErrors(batch);
    const fileName = batchFileName(batch.id, file.kind);
    await sendLines(this.watch, response, { contentType: 'application/jsonl', fileName }, lines);
  }

  private async batchOf(caller: Caller, { batchId }: FileOfBatch): Promise<Batch> {
    const batch = await this.batches.get(caller, batchId);
    const expiresAtMs = filesExpireAtMs(batch);
    if (expiresAtMs === null || expiresAtMs > this.clock.now()) return batch;
    throw new DomainError('unknown_file', 'The files of this batch have expired.');
  }
}

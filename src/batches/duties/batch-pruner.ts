import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { FileUses } from '../../queue/retention/file-uses.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { ErasedLines } from '../erased-lines.js';
import { oldBatches, removeBatch } from '../queries/write-batches.js';

/**
 * Deletes ended batches, with their files, once the retention of requests is over, and takes what was erased out of the
 * files of the others.
 */
@Injectable()
export class BatchPruner extends SelfStartingDuty {
  protected readonly intervalMs = 600_000;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly uses: FileUses,
    private readonly erased: ErasedLines,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    for (;;) {
      const old = await oldBatches(this.database, this.config.retentionMs);
      if (old.length === 0) break;
      for (const id of old) await this.remove(id);
    }
    await this.erased.rewriteAll();
  }

  /** Returns false if there is no such batch, or it has not ended. */
  remove(id: string): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const isRemoved = await removeBatch({ query }, id);
      if (isRemoved) await this.uses.endOfBatch({ query }, id);
      return isRemoved;
    });
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Queries } from '../database/statement.js';
import { assertCancellable, unknownBatch } from './batch-errors.js';
import { BatchDriver } from './duties/batch-driver.js';
import {
  findOperatorBatch,
  listOperatorBatches,
  type OperatorBatch,
  type OperatorBatchesPage,
} from './queries/operator-batches.js';
import { cancelBatch } from './queries/write-batches.js';

export type { OperatorBatch };

/** The batches of all keys, for operators. */
@Injectable()
export class OperatorBatches {
  constructor(
    private readonly database: Database,
    private readonly driver: BatchDriver,
  ) {}

  /** Newest first. */
  list(page: OperatorBatchesPage): Promise<OperatorBatch[]> {
    return listOperatorBatches(this.database, page);
  }

  async find(id: string): Promise<OperatorBatch> {
    const batch = await findOperatorBatch(this.database, id);
    if (batch === undefined) throw unknownBatch();
    return batch;
  }

  /**
   * Cancels a batch in the transaction that these statements are in. Returns its status before; undefined: it was
   * cancelled already. The caller calls `wake` after the commit.
   */
  async cancel(queries: Queries, id: string): Promise<OperatorBatch['status'] | undefined> {
    const { status } = await this.find(id);
    assertCancellable(status);
    if (status === 'cancelling' || status === 'cancelled') return undefined;
    await cancelBatch(queries, id);
    return status;
  }

  wake(): void {
    this.driver.wake();
  }
}

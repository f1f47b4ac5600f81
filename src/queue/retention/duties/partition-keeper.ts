import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { Duty } from '../../../tools/duty.js';
import { makeOutputPartitions } from '../queries/output-partitions.js';

const ensurePartitions = statement('ensure_partitions')`
SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1, 9) AS made`;

const boundRecent = statement('bound_recent_request')`SELECT bound_recent_request()`;

/**
 * Creates the daily partitions a week ahead and those of output an hour ahead, so that a write always finds one. Leaves
 * out of `recent_request` the days that hold no open request any more.
 */
@Injectable()
export class PartitionKeeper extends Duty {
  protected readonly intervalMs = 1_200_000;

  constructor(private readonly database: Database) {
    super();
  }

  async runOnce(): Promise<void> {
    await this.database.query(ensurePartitions);
    await this.database.query(boundRecent);
    await makeOutputPartitions(this.database);
  }
}

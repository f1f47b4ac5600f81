import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { Duty } from '../../tools/duty.js';
import { makeOutputPartitions } from '../queries/output-partitions.js';

const ensurePartitions = statement('ensure_partitions')`
SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1, 9) AS made`;

/** Makes the days' partitions a week ahead, and those of output for an hour, so that a write never finds none. */
@Injectable()
export class PartitionKeeper extends Duty {
  protected readonly intervalMs = 1_200_000;

  constructor(private readonly database: Database) {
    super();
  }

  async runOnce(): Promise<void> {
    await this.database.query(ensurePartitions);
    await makeOutputPartitions(this.database);
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import { Duty } from '../../tools/duty.js';

/** Nodes that start at once after midnight would make the same day; the second waits, and finds it. */
const ensurePartitions = statement('ensure_partitions')`
SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1, 9) AS made
FROM (SELECT pg_advisory_xact_lock(hashtext('ensure_partitions'))) AS locked`;

/** Makes the days' partitions a week ahead, so that a submit never finds none. */
@Injectable()
export class PartitionKeeper extends Duty {
  protected readonly intervalMs = 3_600_000;

  constructor(private readonly database: Database) {
    super();
  }

  async runOnce(): Promise<void> {
    await this.database.query(ensurePartitions);
  }
}

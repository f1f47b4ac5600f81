import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { DatabaseFaults } from '../database/database-faults.js';
import type { Statement } from '../database/statement.js';
import { DatabaseUnavailable } from '../errors/database-error.js';
import { DiskSpace } from './disk-space.js';
import { StorageUnavailable } from './stores/storage-error.js';

/** What refused a write so long ago may refuse the next one, whatever a probe says. */
const recentMs = 5_000;

const littleMemory: Statement = {
  name: 'use_little_memory',
  text: `SELECT set_config('work_mem', '64kB', true)`,
};
/** Sorts more than fits in that, so that the server writes a file of a megabyte, and removes it. */
const probe: Statement = {
  name: 'probe_disk',
  text: 'SELECT count(*) FROM (SELECT n FROM generate_series(1, 60000) AS n ORDER BY -n OFFSET 0) AS sorted',
};

/** Whether the disk of the database takes what is written. */
@Injectable()
export class DatabaseDisk {
  constructor(
    private readonly database: Database,
    private readonly faults: DatabaseFaults,
    private readonly space: DiskSpace,
  ) {}

  /** What keeps requests from being taken, as a sentence; undefined: nothing. */
  async fault(): Promise<string | undefined> {
    if (await this.space.isDatabaseShort())
      return 'The disk of the embedded database is nearly full: the operator has to make room on it.';
    const { lastDiskFault } = this.faults;
    if (lastDiskFault === undefined) return undefined;
    if (performance.now() - lastDiskFault.at < recentMs) return lastDiskFault.error.message;
    try {
      await this.database.atomically([littleMemory, []], [probe, []]);
      this.faults.forgetDiskFault();
      return undefined;
    } catch (error) {
      const isOfDisk = error instanceof DatabaseUnavailable && error === this.faults.lastDiskFault?.error;
      if (!isOfDisk) throw error;
      return error.message;
    }
  }

  /** What keeps files from being taken while requests are, as a sentence; undefined: nothing. */
  async shortage(): Promise<string | undefined> {
    try {
      await this.space.assertRoom();
      return undefined;
    } catch (error) {
      // A folder that cannot be looked at says nothing of its disk, and nothing of the database.
      if (!(error instanceof StorageUnavailable)) return undefined;
      return 'The disk is nearly full: files are refused, and results with files wait. Make room on it (RESERVED_DISK).';
    }
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { DatabaseFaults } from '../database/database-faults.js';
import type { Statement } from '../database/statement.js';
import { DatabaseUnavailable } from '../errors/database-error.js';
import { DiskSpace } from './disk-space.js';
import { StorageUnavailable } from './stores/storage-error.js';

/** A write that was refused this recently may be refused again, whatever a probe finds. */
const recentMs = 5_000;

const littleMemory: Statement = {
  name: 'use_little_memory',
  text: `SELECT set_config('work_mem', '64kB', true)`,
};
/** Sorts more than fits in that memory, so that the server writes a file of a megabyte and removes it. */
const probe: Statement = {
  name: 'probe_disk',
  text: 'SELECT count(*) FROM (SELECT n FROM generate_series(1, 60000) AS n ORDER BY -n OFFSET 0) AS sorted',
};

/** Checks whether the disk of the database takes writes. */
@Injectable()
export class DatabaseDisk {
  constructor(
    private readonly database: Database,
    private readonly faults: DatabaseFaults,
    private readonly space: DiskSpace,
  ) {}

  /** Returns why requests cannot be taken, as a sentence. undefined: they can. */
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

  /** Returns why files cannot be taken although requests can, as a sentence. undefined: they can. */
  async shortage(): Promise<string | undefined> {
    try {
      await this.space.assertRoom();
      return undefined;
    } catch (error) {
      // A folder that cannot be read shows nothing about its disk or about the database.
      if (!(error instanceof StorageUnavailable)) return undefined;
      return 'The disk is nearly full: files are refused, and results with files wait. Make room on it (RESERVED_DISK).';
    }
  }
}

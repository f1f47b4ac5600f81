import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { FilePlace } from '../file-place.js';
import {
  deleteFiles,
  endStrayUses,
  findPrunable,
  readRemovedFiles,
  removeUnusedFiles,
  type UsePosition,
} from '../queries/prune-files.js';
import { bytesOf, FILE_STORE, type FileStore } from '../stores/file-store.js';
import { Spool } from '../stores/spool.js';

const start: UsePosition = {
  requestId: '00000000-0000-0000-0000-000000000000',
  fileId: '00000000-0000-0000-0000-000000000000',
};

/** Removes files that no request names any more, rows and bytes, and what unfinished uploads left. */
@Injectable()
export class FilePruner extends SelfStartingDuty {
  protected readonly intervalMs = 60_000;
  /** All uses up to here have been checked. Kept between rounds, so that a round reads only new ones. */
  private checkedUpTo = start;

  constructor(
    private readonly database: Database,
    private readonly place: FilePlace,
    @Inject(FILE_STORE) private readonly store: FileStore,
    private readonly spool: Spool,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    // Done first, because the other steps fail while the store is away.
    await this.spool.touch();
    const found = await findPrunable(this.database, this.checkedUpTo);
    const ended = found.uses && (await this.endStrayUses());
    if (found.files || ended) {
      while ((await removeUnusedFiles(this.database)) > 0);
      await this.removeBytes();
    }
    await this.spool.removeLeftovers();
  }

  /** Returns whether there were uses to check. */
  private async endStrayUses(): Promise<boolean> {
    for (let looked = false; ; looked = true) {
      const upTo = await endStrayUses(this.database, this.checkedUpTo);
      if (upTo === undefined) return looked;
      this.checkedUpTo = upTo;
    }
  }

  private async removeBytes(): Promise<void> {
    for (;;) {
      const removed = await readRemovedFiles(this.database);
      if (removed.length === 0) return;
      // In another place there is nothing to remove, and the deleted rows would be the only record of the bytes.
      await this.place.assertOurs();
      for (const { id, uploads } of removed) {
        for (let upload = 1; upload <= uploads; upload++) await this.store.remove(bytesOf(id, upload));
      }
      await deleteFiles(
        this.database,
        removed.map(({ id }) => id),
      );
    }
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { establishPlace, placeOfFiles } from './queries/place.js';
import { FILE_STORE, type FileStore } from './stores/file-store.js';
import { StorageUnavailable } from './stores/storage-error.js';

/** Checks that this node keeps files where the other nodes do. */
@Injectable()
export class FilePlace {
  /** The place of all nodes, once it is known. */
  private established: string | undefined;

  constructor(
    @Inject(FILE_STORE) private readonly store: FileStore,
    private readonly database: Database,
  ) {}

  /** Runs before anything is written. Throws if it would be written where other nodes do not look. */
  async assertOurs(): Promise<void> {
    const own = await this.store.claimPlace();
    if (own === this.established) return;
    const place = await establishPlace(this.database, own);
    if (place !== own) throw new StorageUnavailable('unusable', elsewhere);
    this.established = place;
  }

  /** Returns why existing files cannot be read from here. undefined: they can, or there are none. */
  async fault(): Promise<string | undefined> {
    return this.faultAt(await this.placeOfFiles());
  }

  /** Returns the place of the stored files. undefined: there are none. */
  placeOfFiles(): Promise<string | undefined> {
    return placeOfFiles(this.database);
  }

  /** Returns why files at this place cannot be read from here. Does not use the database. */
  async faultAt(place: string | undefined): Promise<string | undefined> {
    if (place === undefined) return undefined;
    const own = await this.store.place().catch(() => undefined);
    return own === place ? undefined : elsewhere;
  }
}

const elsewhere =
  'This node uses another store of files than the rest of the service. Give all nodes the same FILES and, on ' +
  'disks, the same folder in DATA_DIR.';

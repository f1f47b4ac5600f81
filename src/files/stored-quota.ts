import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { DomainError } from '../errors/domain-error.js';
import { Batcher } from '../tools/batcher.js';
import type { StoredAllowanceDto } from './dto/stored-allowance.dto.js';
import { readStored, type Stored } from './queries/read-stored.js';

/** This node's account of one key, while the key has uploads under way here. */
interface Book {
  storedBytes: number;
  /** Bytes announced by uploads under way, or received by those that announce nothing. */
  reservedBytes: number;
  uploads: number;
  /** Uploads that have ended here since the account was opened. */
  ends: number;
}

/** The files of one key that calls on this node announce. */
interface Announcements {
  calls: number;
  /** Files that are being added. */
  adding: number;
  /** Files that were added, or could not be, since there are such calls. */
  ended: number;
}

/** The room of one upload. */
export interface Reservation {
  /** Notes that this many bytes have come in total. Throws if the key has no room for them. */
  reach(bytes: number): void;
  /** `storedBytes`: the size of the file that it became; 0: it became none. */
  end(storedBytes: number): void;
}

/**
 * How much each key may store. The database counts files in the commit that adds, stores or removes them. What is under
 * way is reserved here. Parallel calls therefore exceed the quota at most by what is under way on other nodes.
 */
@Injectable()
export class StoredQuota {
  private readonly books = new Map<string, Book>();
  private readonly announcements = new Map<string, Announcements>();
  private readonly looks: Batcher<string, Stored>;

  constructor(
    private readonly config: Config,
    database: Database,
  ) {
    this.looks = new Batcher((keyIds) => readStored(database, keyIds), { maxItems: 256, writers: 2 });
  }

  async allowanceOf(keyId: string): Promise<StoredAllowanceDto> {
    const { maxStoredBytes, maxStoredFiles } = this.config;
    return { ...(await this.looks.add(keyId)), max_bytes: maxStoredBytes, max_files: maxStoredFiles };
  }

  /** Adds the row of a file that is to come. Throws if the key may not announce another file. */
  async announce<File>(keyId: string, add: () => Promise<File>): Promise<File> {
    const own = this.announcements.get(keyId) ?? { calls: 0, adding: 0, ended: 0 };
    this.announcements.set(keyId, own);
    own.calls++;
    try {
      await this.takeRoom(keyId, own);
      return await add().finally(() => {
        own.adding--;
        own.ended++;
      });
    } finally {
      if (--own.calls === 0) this.announcements.delete(keyId);
    }
  }

  /** Looks again while the answer depends on files of which it is not known whether the sum includes them. */
  private async takeRoom(keyId: string, own: Announcements): Promise<void> {
    const { maxStoredFiles, maxStoredBytes } = this.config;
    for (;;) {
      const { ended } = own;
      const { files, bytes } = await this.looks.add(keyId);
      if (files >= maxStoredFiles) throw tooManyFiles(files, this.config);
      if (bytes + (this.books.get(keyId)?.reservedBytes ?? 0) >= maxStoredBytes)
        throw tooManyBytes(bytes, this.config);
      if (files + own.adding + own.ended - ended >= maxStoredFiles) continue;
      own.adding++;
      return;
    }
  }

  /** `announced`: bytes that the upload will have, as far as that is known. Throws if there is no room for them. */
  async begin(keyId: string, announced: number): Promise<Reservation> {
    const endsBefore = this.books.get(keyId)?.ends;
    const { bytes } = await this.looks.add(keyId);
    const book = this.books.get(keyId) ?? { storedBytes: bytes, reservedBytes: 0, uploads: 0, ends: 0 };
    // A sum that was read before another upload ended here may not include it. The account does.
    if (book.ends === (endsBefore ?? 0)) book.storedBytes = bytes;
    this.books.set(keyId, book);
    book.uploads++;
    const reservation = this.reservation(keyId, book);
    try {
      reservation.reach(announced);
    } catch (error) {
      reservation.end(0);
      throw error;
    }
    return reservation;
  }

  private reservation(keyId: string, book: Book): Reservation {
    let reserved = 0;
    return {
      reach: (bytes) => {
        const more = bytes - reserved;
        if (more <= 0) return;
        const { maxStoredBytes } = this.config;
        if (book.storedBytes + book.reservedBytes + more > maxStoredBytes)
          throw tooManyBytes(book.storedBytes, this.config);
        book.reservedBytes += more;
        reserved += more;
      },
      end: (storedBytes) => {
        book.reservedBytes -= reserved;
        book.storedBytes += storedBytes;
        book.ends++;
        if (--book.uploads === 0) this.books.delete(keyId);
      },
    };
  }
}

const whatToDo =
  'Erase requests that you no longer need, with their files (DELETE /v1/queue/requests/<id>), wait until ' +
  'retention does, or ask the operator for more';

function tooManyBytes(stored: number, { maxStoredBytes: max }: Config): DomainError {
  return new DomainError(
    'storage_full',
    `The files of this key use ${stored} of their ${max} bytes, so there is no room for this one. ` +
      `${whatToDo} (MAX_STORED_BYTES).`,
  );
}

function tooManyFiles(files: number, { maxStoredFiles: max }: Config): DomainError {
  return new DomainError(
    'storage_full',
    `This key has ${files} of its ${max} files. ${whatToDo} (MAX_STORED_FILES).`,
  );
}

import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Handles } from '../auth/handles.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import { localUrl } from '../http/listen.js';
import { RepeatedLines } from '../tools/repeated-lines.js';
import { fileNameOf, isContentType, nameForType } from './file-name.js';
import { FilePlace } from './file-place.js';
import { FileRows } from './file-rows.js';
import type { StoredFile } from './queries/find-files.js';
import { readOwner } from './queries/read-owner.js';
import {
  type ByteRange,
  bytesOf,
  FILE_STORE,
  type FileStore,
  type Memory,
  type Received,
  type Written,
} from './stores/file-store.js';
import { Spool } from './stores/spool.js';
import { type StorageFault, StorageUnavailable } from './stores/storage-error.js';

const fileId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const otherType = 'application/octet-stream';

export interface NewFile {
  keyId: string;
  contentType: string;
  fileName: string;
}

/** A file as a model's output shows it. */
export interface FileView {
  url: string;
  content_type: string;
  size: number;
  sha256: string;
}

/** The run that waits while a file it made cannot be stored. */
export interface Maker {
  requestId: string;
  /** Ends the wait. */
  signal: AbortSignal;
}

const againAfterMs = 500;

/** The store of all nodes answers, and does not have the bytes of a stored file. */
export class BytesMissing extends DomainError {
  constructor() {
    super('unavailable', 'The bytes of this file cannot be read now.');
  }
}

/** All files, wherever their bytes are. */
@Injectable()
export class Files {
  private readonly log = new Logger(Files.name);
  private readonly lines = new RepeatedLines();

  constructor(
    private readonly rows: FileRows,
    @Inject(FILE_STORE) private readonly store: FileStore,
    private readonly spool: Spool,
    private readonly place: FilePlace,
    private readonly database: Database,
    private readonly config: Config,
    private readonly handles: Handles,
  ) {}

  /** Adds a row for a file that is to come. `uploads`: tries that have begun. */
  async add(
    { keyId, contentType, fileName }: NewFile,
    uploads = 0,
    id: string = randomUUID(),
  ): Promise<{ id: string; name: string }> {
    const file = { id, name: fileNameOf(fileName) };
    await this.place.assertOurs();
    await this.rows.add({ ...file, keyId, contentType, uploads });
    return file;
  }

  /** undefined: nothing is stored under this id and name. */
  async find(fileId: string, name: string): Promise<StoredFile | undefined> {
    const file = isFileId(fileId) ? await this.rows.find(fileId) : undefined;
    return file?.name === name ? file : undefined;
  }

  /** undefined: nothing is stored under this id. */
  byId(fileId: string): Promise<StoredFile | undefined> {
    return this.rows.find(fileId);
  }

  /** Returns the stored file that a URL of this service names. undefined: it names none. */
  async named(url: string): Promise<{ file: StoredFile; read: () => Promise<Readable> } | undefined> {
    const [, id, name] = ownFile.exec(url) ?? [];
    if (id === undefined || name === undefined) return undefined;
    const decoded = decodedName(name);
    const file = decoded === undefined ? undefined : await this.find(id, decoded);
    if (file === undefined) return undefined;
    // No range is empty.
    if (file.size === 0) return { file, read: () => Promise.resolve(Readable.from([])) };
    return { file, read: () => this.read(file, { start: 0, end: file.size - 1 }) };
  }

  async read({ id, upload }: StoredFile, range: ByteRange): Promise<Readable> {
    const bytes = await this.store.read(bytesOf(id, upload), range).catch((error: unknown) => {
      this.note(error);
      throw error;
    });
    if (bytes !== undefined) return bytes;
    this.log.error({ file: this.handles.handleOf(id) }, 'the stored bytes of a file are missing');
    const fault = await this.place.fault();
    if (fault !== undefined) throw new StorageUnavailable('unusable', fault);
    throw new BytesMissing();
  }

  /** Writes the bytes of a try. undefined: the file is stored by another try, or is gone. */
  async write(id: string, upload: number, source: AsyncIterable<Buffer>): Promise<Written | undefined> {
    const name = bytesOf(id, upload);
    let part: Received | undefined;
    let written: Written;
    try {
      part = await this.spool.receive(source);
      written = await this.store.store(name, part);
    } catch (error) {
      await part?.discard();
      this.note(error);
      throw error;
    }
    // An error here leaves it open what was committed. The pruner removes what is of no use.
    if (await this.rows.end({ id, upload, ...written })) return written;
    await this.store.remove(name);
    return undefined;
  }

  /**
   * Receives the bytes of a file that a run makes, and uses up its chunks. Throws `StorageUnavailable` if `memory` has
   * no room for what the disk does not take.
   */
  async receive(source: AsyncIterable<Buffer>, memory: Memory): Promise<Received> {
    try {
      return await this.spool.receive(source, memory);
    } catch (error) {
      this.note(error);
      throw error;
    }
  }

  /**
   * Keeps a file that a run of a request has made, and uses up its bytes. The file belongs to the key of the request.
   * If a disk or a database does not take it, it waits, so that the model's work need not be repeated.
   */
  async keep(
    part: Received,
    { contentType: given, fileName }: { contentType: string; fileName?: string | undefined },
    maker: Maker,
  ): Promise<FileView> {
    const id = randomUUID();
    let mayBeStored = false;
    try {
      const { keyId, base } = await this.untilTaken(maker, () => this.ownerOf(maker.requestId));
      const contentType = isContentType(given) ? given : otherType;
      const file = { keyId, contentType, fileName: fileName ?? nameForType(contentType) };
      const { name } = await this.untilTaken(maker, () => this.add(file, 1, id));
      const written = await this.untilTaken(maker, () => this.store.store(bytesOf(id, 1), part));
      mayBeStored = true;
      mayBeStored = await this.untilTaken(maker, () => this.rows.end({ id, upload: 1, ...written }));
      if (!mayBeStored) throw new Error('a file was removed while it was written');
      const { size, sha256 } = written;
      const view = { content_type: contentType, size, sha256: sha256.toString('hex') };
      return { url: fileUrl(base, id, name), ...view };
    } catch (error) {
      const isGivenUp = await this.rows.giveUp(id).catch(() => false);
      // The answer to the last statement may have been lost, so that the row is stored and needs its bytes. What is of
      // no use after all is removed by the pruner.
      if (isGivenUp || !mayBeStored) await part.discard();
      throw error;
    }
  }

  /** Tries until the disk and the database take it, or the maker's signal aborts. */
  private async untilTaken<T>({ signal }: Maker, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StorageUnavailable) && !isDatabaseUnavailable(error)) throw error;
        this.note(error);
        await delay(againAfterMs, undefined, { signal });
      }
    }
  }

  /** Logs what an operator has to mend, once a minute. */
  private note(error: unknown): void {
    if (!(error instanceof StorageUnavailable)) return;
    const { fault, message, options } = error;
    const said = (options.cause as Error | undefined)?.message ?? message;
    this.lines.add(fault, (times) => this.log.error({ times, said }, lines[fault]));
  }

  /** Returns the key that owns the files of a request's run, and what their URLs begin with, as in its answers. */
  async ownerOf(requestId: string): Promise<{ keyId: string; base: string }> {
    const owner = await readOwner(this.database, requestId);
    if (owner === undefined) throw new DomainError('unknown_request', 'There is no such request.');
    const { publicBaseUrl, host, port } = this.config;
    return { keyId: owner.keyId, base: publicBaseUrl ?? owner.baseUrl ?? localUrl(host, port) };
  }
}

const lines: Readonly<Record<StorageFault, string>> = {
  full: 'the disk or the bucket of the files is full: files cannot be stored',
  reserve:
    'the disk of DATA_DIR is nearly full: files are refused, and the rest is reserved for the database (RESERVED_DISK)',
  no_descriptors: 'this node is at its limit of open files (ulimit -n): files cannot be stored or read',
  unusable: 'the folder of the files cannot be used',
  away: 'the file store cannot be reached, or refuses files',
};

/** A file's URL: our base may have a path, and may differ from node to node. */
const ownFile = /^https?:\/\/[^/?#]+(?:\/[^?#]*)?\/v1\/files\/([0-9a-f-]{36})\/([^/?#]+)$/;

/** undefined: the name is not percent-encoded correctly. */
function decodedName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

const isFileId = (text: string): boolean => fileId.test(text);

export function fileUrl(base: string, id: string, name: string): string {
  return `${base}/v1/files/${id}/${encodeURIComponent(name)}`;
}

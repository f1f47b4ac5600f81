import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { Handles } from '../auth/handles.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { persist } from '../database/persist.js';
import { DomainError } from '../errors/domain-error.js';
import { fileNameOf, isContentType, nameForType } from './file-name.js';
import { FilePlace } from './file-place.js';
import { FileRows } from './file-rows.js';
import type { StoredFile } from './queries/find-files.js';
import { readOwner } from './queries/read-owner.js';
import { type ByteRange, bytesOf, FILE_STORE, type FileStore } from './stores/file-store.js';

const fileId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const otherType = 'application/octet-stream';

export interface NewFile {
  keyId: string;
  contentType: string;
  fileName: string;
}

/** As a model's output has it. */
export interface FileView {
  url: string;
  content_type: string;
  size: number;
  sha256: string;
}

type Commit = <T>(statement: () => Promise<T>) => Promise<T>;
/** The caller hears of a database that is away, and tries again. */
const once: Commit = (statement) => statement();

/** The files that there are, wherever their bytes may be. */
@Injectable()
export class Files {
  private readonly log = new Logger(Files.name);

  constructor(
    private readonly rows: FileRows,
    @Inject(FILE_STORE) private readonly store: FileStore,
    private readonly place: FilePlace,
    private readonly database: Database,
    private readonly config: Config,
    private readonly handles: Handles,
  ) {}

  /** A row for what is to come; `uploads`: tries that have begun. */
  async add(
    { keyId, contentType, fileName }: NewFile,
    uploads = 0,
    commit = once,
  ): Promise<{ id: string; name: string }> {
    const file = { id: randomUUID(), name: fileNameOf(fileName) };
    await this.place.assertOurs();
    await commit(() => this.rows.add({ ...file, keyId, contentType, uploads }));
    return file;
  }

  /** undefined: nothing is stored under this id and name. */
  async find(fileId: string, name: string): Promise<StoredFile | undefined> {
    const file = isFileId(fileId) ? await this.rows.find(fileId) : undefined;
    return file?.name === name ? file : undefined;
  }

  async read({ id, upload }: StoredFile, range: ByteRange): Promise<Readable> {
    const bytes = await this.store.read(bytesOf(id, upload), range);
    if (bytes !== undefined) return bytes;
    this.log.error({ file: this.handles.handleOf(id) }, 'the bytes of a file are not where they were stored');
    throw new DomainError('unavailable', 'The bytes of this file cannot be read now.');
  }

  /** Writes the bytes of a try. False: the file is stored by another try, or is gone. */
  async write(
    id: string,
    upload: number,
    source: AsyncIterable<Buffer>,
    commit = once,
  ): Promise<{ size: number; sha256: Buffer } | undefined> {
    const name = bytesOf(id, upload);
    try {
      const written = await this.store.write(name, source);
      // An error here leaves it open what was committed: the pruner takes away what is of no use.
      if (await commit(() => this.rows.end({ id, upload, ...written }))) return written;
    } catch (error) {
      const { code, options } = error as Partial<DomainError>;
      if (code === 'storage_full' || code === 'unavailable')
        this.log.error(`a file cannot be stored: ${String((options?.cause as Error | undefined) ?? error)}`);
      throw error;
    }
    await this.store.remove(name);
    return undefined;
  }

  /**
   * Keeps what a run of a request makes, whose chunks are used up; it is the file of the request's key. A database that
   * is away is waited for, as with the other ends of runs: what the model did well is not to be done again.
   */
  async keep(
    source: AsyncIterable<Buffer>,
    {
      requestId,
      contentType: given,
      fileName,
    }: { requestId: string; contentType: string; fileName?: string | undefined },
  ): Promise<FileView> {
    const { keyId, base } = await persist(() => this.ownerOf(requestId));
    const contentType = isContentType(given) ? given : otherType;
    const file = { keyId, contentType, fileName: fileName ?? nameForType(contentType) };
    const { id, name } = await this.add(file, 1, persist);
    const written = await this.write(id, 1, source, persist).catch(async (error: unknown) => {
      await this.rows.giveUp(id).catch(() => undefined);
      throw error;
    });
    if (written === undefined) throw new Error('a file was removed while it was written');
    const { size, sha256 } = written;
    return { url: fileUrl(base, id, name), content_type: contentType, size, sha256: sha256.toString('hex') };
  }

  /** Whose the files are that a run of a request makes, and what their URLs begin with: as those of its answers. */
  async ownerOf(requestId: string): Promise<{ keyId: string; base: string }> {
    const owner = await readOwner(this.database, requestId);
    if (owner === undefined) throw new DomainError('unknown_request', 'There is no such request.');
    return { keyId: owner.keyId, base: this.config.publicBaseUrl ?? owner.baseUrl ?? this.ownBase };
  }

  /** Where nobody has called. */
  get ownBase(): string {
    const { publicBaseUrl, host, port } = this.config;
    return publicBaseUrl ?? `http://${host}:${port}`;
  }
}

const isFileId = (text: string): boolean => fileId.test(text);

export function fileUrl(base: string, id: string, name: string): string {
  return `${base}/v1/files/${id}/${encodeURIComponent(name)}`;
}

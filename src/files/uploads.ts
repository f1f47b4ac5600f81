import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import type { InitiatedUploadDto, NewUploadDto } from './dto/files.dto.js';
import { fileUrl, Files, type NewFile, otherType } from './files.js';
import { DiskSpace } from './disk-space.js';
import { isContentType } from './file-name.js';
import { FilePlace } from './file-place.js';
import { FileRows } from './file-rows.js';
import { type Reservation, StoredQuota } from './stored-quota.js';
import { fileTooLarge } from './stores/spool.js';
import { UploadUrls } from './upload-urls.js';
import { chunksOf } from './upload-body.js';

/** An upload is for a key, or for the output of a request. The file then belongs to the request's key. */
type UploadOwner = { keyId: string } | { requestId: string };

/** An upload whose bytes may come. */
export interface BegunUpload {
  fileId: string;
  number: number;
  reservation: Reservation;
}

/** A file that was stored in one call. */
export interface UploadedFile {
  id: string;
  name: string;
  contentType: string;
  url: string;
  size: number;
  sha256: Buffer;
}

/** Uploads in two calls: one with a key, which returns a URL, and one to that URL, with the bytes. */
@Injectable()
export class Uploads {
  constructor(
    private readonly files: Files,
    private readonly urls: UploadUrls,
    private readonly place: FilePlace,
    private readonly rows: FileRows,
    private readonly quota: StoredQuota,
    private readonly space: DiskSpace,
    private readonly config: Config,
  ) {}

  /** `base`: what the URLs begin with, as the caller reaches the service. */
  async initiate(
    of: UploadOwner,
    { content_type: contentType, file_name: fileName = 'file' }: NewUploadDto,
    base: string,
  ): Promise<InitiatedUploadDto> {
    const isOutput = 'requestId' in of;
    await this.space.assertRoom();
    const owner = isOutput ? await this.files.ownerOf(of.requestId) : { keyId: of.keyId, base };
    const add = () => this.files.add({ keyId: owner.keyId, contentType, fileName });
    const { id, name } = await (isOutput ? add() : this.quota.announce(owner.keyId, add));
    return {
      file_url: fileUrl(owner.base, id, name),
      upload_url: this.urls.urlOf(base, id, { contentType, isOutput }),
    };
  }

  /** Stores a file whose bytes come with the call itself. `announced`: its size as far as that is known. */
  async store(
    { keyId, contentType: given, fileName }: NewFile,
    chunks: AsyncIterable<Buffer>,
    announced: number,
    base: string,
  ): Promise<UploadedFile> {
    await this.space.assertRoom();
    const contentType = isContentType(given) ? given : otherType;
    const { id, name } = await this.quota.announce(keyId, () =>
      this.files.add({ keyId, contentType, fileName }, 1),
    );
    let storedBytes = 0;
    let reservation = unbounded;
    try {
      reservation = await this.quota.begin(keyId, announced);
      const written =
        (await this.files.write(id, 1, counted(chunks, reservation))) ?? (await this.refuse(id));
      storedBytes = written.size;
      return { id, name, contentType, url: fileUrl(base, id, name), ...written };
    } catch (error) {
      await this.rows.giveUp(id);
      throw error;
    } finally {
      reservation.end(storedBytes);
    }
  }

  /** The file is of no use to its caller. The pruner removes it, unless something has come to name it. */
  discard(fileId: string): Promise<void> {
    return this.rows.expire(fileId);
  }

  /** Makes all checks that are possible before the first byte. */
  async begin(fileId: string, query: object, { headers }: IncomingMessage): Promise<BegunUpload> {
    const { contentType, isOutput } = this.urls.verify(fileId, query as Record<string, unknown>);
    const type = headers['content-type'];
    if (type !== undefined && normal(type) !== normal(contentType)) {
      throw new DomainError('invalid_upload', `The Content-Type must be ${contentType}, as was announced.`);
    }
    const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = headers;
    if (encoding.trim().toLowerCase() !== 'identity') {
      throw new DomainError(
        'unsupported_encoding',
        'A file is stored as it is sent. Send it without a Content-Encoding.',
      );
    }
    if (Number(length) > this.config.maxFileBytes) throw fileTooLarge(this.config.maxFileBytes);
    await this.place.assertOurs();
    await this.space.assertRoom();
    const { number, keyId } = (await this.rows.begin(fileId)) ?? (await this.refuse(fileId));
    const reservation = isOutput ? unbounded : await this.quota.begin(keyId, Number(length));
    return { fileId, number, reservation };
  }

  /**
   * Receives the bytes of a begun upload. `onSlow` is called if the client is too slow; its caller must answer and end
   * the connection.
   */
  async receive(
    { fileId, number, reservation }: BegunUpload,
    request: IncomingMessage,
    onSlow: () => void,
  ): Promise<{ size: number; sha256: Buffer }> {
    let storedBytes = 0;
    try {
      const chunks = counted(chunksOf(request, onSlow), reservation);
      const written = (await this.files.write(fileId, number, chunks)) ?? (await this.refuse(fileId));
      storedBytes = written.size;
      return written;
    } finally {
      reservation.end(storedBytes);
    }
  }

  private async refuse(fileId: string): Promise<never> {
    const row = await this.rows.row(fileId);
    if (row === null || row.state === 'removed') throw new DomainError('unknown_file', 'The upload is over.');
    throw new DomainError(
      'conflict',
      row.state === 'stored'
        ? 'The file is already uploaded and cannot be changed. Initiate another upload.'
        : 'The upload was tried too often. Initiate another one.',
    );
  }
}

const unbounded: Reservation = { reach: () => undefined, end: () => undefined };

async function* counted(chunks: AsyncIterable<Buffer>, { reach }: Reservation): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    reach((bytes += chunk.length));
    yield chunk;
  }
}

/** Removes differences in case and spaces, which have no meaning. */
function normal(contentType: string): string {
  return contentType.replaceAll(/[ \t]/g, '').toLowerCase();
}

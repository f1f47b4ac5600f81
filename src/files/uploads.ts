import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { fileUrl, Files } from './files.js';
import { isContentType } from './file-name.js';
import { FilePlace } from './file-place.js';
import { FileRows } from './file-rows.js';
import { fileTooLarge } from './stores/spool.js';
import { UploadUrls } from './upload-urls.js';
import { chunksOf } from './upload-body.js';

/** Of a key, or for the output of a request: then the file is that of the request's key. */
export type NewUpload = ({ keyId: string } | { requestId: string }) & {
  contentType: string;
  fileName: string;
  base?: string;
};

export interface InitiatedUpload {
  fileUrl: string;
  uploadUrl: string;
}

/** Uploads in two calls: one with a key, that gives a URL; one to that URL, with the bytes. */
@Injectable()
export class Uploads {
  constructor(
    private readonly files: Files,
    private readonly urls: UploadUrls,
    private readonly place: FilePlace,
    private readonly rows: FileRows,
    private readonly config: Config,
  ) {}

  /** `base`: what the URLs begin with, as the caller reaches the service. */
  async initiate({
    contentType,
    fileName,
    base = this.files.ownBase,
    ...of
  }: NewUpload): Promise<InitiatedUpload> {
    if (!isContentType(contentType)) {
      throw new DomainError('bad_request', 'The content_type must be a media type, such as image/png.');
    }
    const owner = 'keyId' in of ? { keyId: of.keyId, base } : await this.files.ownerOf(of.requestId);
    const { id, name } = await this.files.add({ keyId: owner.keyId, contentType, fileName });
    return { fileUrl: fileUrl(owner.base, id, name), uploadUrl: this.urls.urlOf(base, id, contentType) };
  }

  /** All that can be said before the first byte. Gives the number of the try. */
  async begin(fileId: string, query: object, { headers }: IncomingMessage): Promise<number> {
    const announced = this.urls.verify(fileId, query as Record<string, unknown>);
    const type = headers['content-type'];
    if (type !== undefined && normal(type) !== normal(announced)) {
      throw new DomainError('invalid_upload', `The Content-Type must be ${announced}, as was announced.`);
    }
    const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = headers;
    if (encoding.trim().toLowerCase() !== 'identity') {
      throw new DomainError(
        'unsupported_encoding',
        'A file is kept as it comes: send it without an encoding.',
      );
    }
    if (Number(length) > this.config.maxFileBytes) throw fileTooLarge(this.config.maxFileBytes);
    await this.place.assertOurs();
    return (await this.rows.begin(fileId)) ?? this.refuse(fileId);
  }

  /** `onSlow`: the client is too slow; it is for the caller to answer, and to end the connection. */
  async receive(
    fileId: string,
    upload: number,
    request: IncomingMessage,
    onSlow: () => void,
  ): Promise<{ size: number; sha256: Buffer }> {
    const chunks = chunksOf(request, onSlow);
    return (await this.files.write(fileId, upload, chunks)) ?? this.refuse(fileId);
  }

  private async refuse(fileId: string): Promise<never> {
    const row = await this.rows.row(fileId);
    if (row === null || row.state === 'removed') throw new DomainError('unknown_file', 'The upload is over.');
    throw new DomainError(
      'conflict',
      row.state === 'stored'
        ? 'The file was uploaded already, and is never changed: initiate another upload.'
        : 'The upload was tried too often: initiate another one.',
    );
  }
}

/** Without the case and the spaces that make no difference. */
function normal(contentType: string): string {
  return contentType.replaceAll(/[ \t]/g, '').toLowerCase();
}

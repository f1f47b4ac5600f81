import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Actor } from '../../audit/actor.js';
import { DomainError } from '../../errors/domain-error.js';
import { fileUrl } from '../../files/files.js';
import { type KeptFile, KeptFiles } from '../../files/kept-files.js';
import { Uploads } from '../../files/uploads.js';
import { BodyReader } from '../../http/body-reader.js';
import { readForm } from '../multipart.js';

/** Replicate keeps a file for a day. */
const keptSeconds = 86_400;
const maxListed = 1_000;
const purpose = 'replicate';

/** The files of a key, as Replicate shows them. Their URLs are those that inputs may name. */
@Injectable()
export class ReplicateFiles {
  constructor(
    private readonly kept: KeptFiles,
    private readonly uploads: Uploads,
    private readonly bodies: BodyReader,
  ) {}

  async create(keyId: string, base: string, request: Request, response: Response): Promise<object> {
    const form = await readForm(request, response, ({ field, fileName = 'file', contentType, bytes }) =>
      field === 'content'
        ? this.uploads.store({ keyId, contentType, fileName }, bytes as AsyncIterable<Buffer>, 0, base)
        : skipped(bytes as AsyncIterable<Buffer>),
    );
    await this.bodies.checkAgain(request);
    const content = form.files.find(({ field }) => field === 'content')?.stored;
    if (content === undefined) throw new DomainError('bad_request', 'The form needs the file as "content".');
    return toFile(await this.kept.keep(content.id, purpose, keptSeconds), base);
  }

  async list(keyId: string, base: string): Promise<object> {
    const page = { keyId, purpose, after: null, newestFirst: true, limit: maxListed };
    const files = await this.kept.list(page);
    return { previous: null, next: null, results: files.map((file) => toFile(file, base)) };
  }

  async find(keyId: string, id: string, base: string): Promise<object> {
    return toFile(await this.kept.find(id, keyId), base);
  }

  delete(keyId: string, actor: Actor, id: string): Promise<void> {
    return this.kept.delete(id, keyId, actor);
  }
}

/** Reads a part of the form that is not kept, such as the metadata that the client sends as a file. */
async function skipped(bytes: AsyncIterable<Buffer>): Promise<undefined> {
  for await (const chunk of bytes) void chunk;
  return undefined;
}

function toFile(
  { id, name, contentType, size, sha256, createdAt, keptUntil }: KeptFile,
  base: string,
): object {
  return {
    id,
    name,
    content_type: contentType,
    size,
    etag: sha256.toString('hex'),
    checksums: { sha256: sha256.toString('hex') },
    metadata: {},
    created_at: createdAt.toISOString(),
    expires_at: keptUntil?.toISOString() ?? null,
    urls: { get: fileUrl(base, id, name) },
  };
}

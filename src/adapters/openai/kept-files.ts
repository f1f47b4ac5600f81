import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Actor } from '../../audit/actor.js';
import type { Caller } from '../../auth/caller.js';
import { type KeptFile, KeptFiles } from '../../files/kept-files.js';
import { Uploads } from '../../files/uploads.js';
import { DomainError } from '../../errors/domain-error.js';
import { BodyReader } from '../../http/body-reader.js';
import { ClientAddress } from '../../http/client-address.js';
import { readForm } from '../multipart.js';
import { BatchFiles } from './batch-files.js';
import { batchFileOf } from './batch-view.js';
import type { FilesQuery } from './list-options.js';
import { wrongAt } from './openai-error.js';

/** The bounds of OpenAI for `expires_after`, in seconds. */
const [leastSeconds, mostSeconds] = [3_600, 2_592_000];

/** The files of a key, as OpenAI shows them. */
@Injectable()
export class OpenAiFiles {
  constructor(
    private readonly kept: KeptFiles,
    private readonly uploads: Uploads,
    private readonly batchFiles: BatchFiles,
    private readonly addresses: ClientAddress,
    private readonly bodies: BodyReader,
  ) {}

  async create(keyId: string, request: Request, response: Response): Promise<object> {
    const base = this.addresses.baseUrl(request);
    const form = await readForm(request, response, ({ fileName = 'file', contentType, bytes }) =>
      this.uploads.store({ keyId, contentType, fileName }, bytes as AsyncIterable<Buffer>, 0, base),
    );
    await this.bodies.checkAgain(request);
    const fields = new Map(form.fields);
    const file = form.files.find(({ field }) => field === 'file');
    if (file === undefined) throw wrongAt('file', 'must be a file');
    const purpose = fields.get('purpose') ?? '';
    if (!/^[\w-]{1,64}$/.test(purpose))
      throw wrongAt('purpose', 'must be a word of at most 64 letters, digits, "-" and "_"');
    return toFile(await this.kept.keep(file.stored.id, purpose, secondsOf(fields)));
  }

  async list(keyId: string, { purpose, after, order, limit }: FilesQuery): Promise<object> {
    const found = await this.kept.list({
      keyId,
      purpose: purpose ?? null,
      after: after ?? null,
      newestFirst: order === 'desc',
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const ends = { first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null };
    return { object: 'list', data: page.map(toFile), ...ends, has_more: found.length > limit };
  }

  async find(caller: Caller, id: string): Promise<object> {
    const ofBatch = batchFileOf(id);
    if (ofBatch !== undefined) return this.batchFiles.find(caller, ofBatch);
    return toFile(await this.kept.find(id, caller.keyId));
  }

  send(caller: Caller, id: string, request: Request, response: Response): Promise<void> {
    const ofBatch = batchFileOf(id);
    if (ofBatch !== undefined) return this.batchFiles.send(caller, ofBatch, response);
    return this.kept.send(id, caller.keyId, request, response);
  }

  async delete(keyId: string, actor: Actor, id: string): Promise<object> {
    const ofBatch = batchFileOf(id);
    if (ofBatch !== undefined)
      throw new DomainError(
        'conflict',
        `A file of a batch is deleted with its batch: DELETE /v1/batches/${ofBatch.batchId}.`,
      );
    await this.kept.delete(id, keyId, actor);
    return { id, object: 'file', deleted: true };
  }
}

function toFile({ id, name, size, purpose, createdAt, keptUntil }: KeptFile): object {
  const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000);
  return {
    id,
    object: 'file',
    bytes: size,
    created_at: seconds(createdAt),
    ...(keptUntil !== null && { expires_at: seconds(keptUntil) }),
    filename: name,
    purpose,
    status: 'processed',
    status_details: null,
  };
}

function secondsOf(fields: ReadonlyMap<string, string>): number | null {
  const [anchor, seconds] = ['anchor', 'seconds'].map((name) => fields.get(`expires_after[${name}]`));
  if (anchor === undefined && seconds === undefined) return null;
  return expirySeconds('expires_after', { anchor, seconds });
}

/** Reads how long a file is kept after its creation. */
export function expirySeconds(name: string, value: Readonly<Record<string, unknown>>): number {
  if (value['anchor'] !== 'created_at') throw wrongAt(`${name}/anchor`, 'must be created_at');
  // A form has it as a text.
  const seconds = typeof value['seconds'] === 'string' ? Number(value['seconds']) : value['seconds'];
  const isWithin = typeof seconds === 'number' && seconds >= leastSeconds && seconds <= mostSeconds;
  if (isWithin && Number.isInteger(seconds)) return seconds;
  throw wrongAt(`${name}/seconds`, `must be a whole number from ${leastSeconds} to ${mostSeconds}`);
}

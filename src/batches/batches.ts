import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, rankOf } from '../auth/caller.js';
import { Database } from '../database/database.js';
import { newId } from '../database/new-id.js';
import { DomainError } from '../errors/domain-error.js';
import { Files } from '../files/files.js';
import { Uploads } from '../files/uploads.js';
import { FileUses } from '../queue/retention/file-uses.js';
import { NewRequests } from '../requests/new-requests.js';
import { AtATime } from '../tools/at-a-time.js';
import { type Batch, maxWindowDays, type NewBatch, type SegmentKind } from './batch.js';
import { assertCancellable, unknownBatch } from './batch-errors.js';
import { linesType } from './segment-writer.js';
import { BatchDriver } from './duties/batch-driver.js';
import { BatchPruner } from './duties/batch-pruner.js';
import { ErasedLines } from './erased-lines.js';
import { LineFormats } from './line-formats.js';
import { type BatchesPage, findBatch, listBatches } from './queries/read-batches.js';
import { readBatchFile } from './queries/lines.js';
import {
  type BatchInsert,
  cancelBatch,
  countOpenBatches,
  findBatchByKey,
  insertBatch,
} from './queries/write-batches.js';
import { ResultLines } from './result-lines.js';

const defaultWindowSeconds = 86_400;
export const maxWindowSeconds = maxWindowDays * 86_400;
/** Batches of a key that have not ended. */
const maxOpen = 100;

/** The batches of keys, for this API and for those of other services. */
@Injectable()
export class Batches {
  private readonly adding = new AtATime(1);

  constructor(
    private readonly database: Database,
    private readonly newRequests: NewRequests,
    private readonly files: Files,
    private readonly uploads: Uploads,
    private readonly uses: FileUses,
    private readonly formats: LineFormats,
    private readonly results: ResultLines,
    private readonly erased: ErasedLines,
    private readonly driver: BatchDriver,
    private readonly pruner: BatchPruner,
  ) {}

  /**
   * Adds a batch. Its lines are stored first, as they come. `base`: the beginning of URLs about it. `replayed`: its
   * idempotency key was used before, and this is the batch of that call.
   */
  async create(caller: Caller, made: NewBatch, base: string): Promise<{ batch: Batch; replayed: boolean }> {
    const { keyId } = caller;
    const { tag, webhook, priority = 'low', windowSeconds = defaultWindowSeconds, format } = made;
    const { metadata = {}, idempotencyKey } = made;
    const model = made.modelId === undefined ? undefined : this.newRequests.modelNamed(caller, made.modelId);
    this.newRequests.assertPriority(caller, priority);
    if (webhook !== undefined) this.newRequests.assertWebhookUrl(webhook);
    if (this.formats.find(format) === undefined) throw new Error(`There is no format ${format}.`);
    await this.assertRoom(keyId, idempotencyKey);
    const { id: inputFileId, sha256 } = await this.stored(keyId, made.input, base);
    const terms = { modelId: model?.id ?? null, tag: tag ?? null, webhookUrl: webhook ?? null };
    const written = JSON.stringify([format, terms, priority, windowSeconds, metadata]);
    const fingerprint = createHash('sha256').update(sha256).update(written).digest();
    const id = newId();
    const row = {
      id,
      keyId,
      format,
      metadata,
      ...terms,
      inputFileId,
      fingerprint,
      windowSeconds,
      priority: rankOf(priority),
      baseUrl: base,
      idempotencyKey: idempotencyKey ?? null,
    };
    let added: Batch | undefined;
    try {
      added = await this.adding.run(keyId, async () => {
        // Calls at once may have added others while the lines were stored.
        await this.assertRoom(keyId, idempotencyKey);
        return this.add(row);
      });
    } finally {
      if (added === undefined && 'lines' in made.input) await this.uploads.discard(inputFileId);
    }
    if (added === undefined)
      return { batch: await this.repeated(keyId, idempotencyKey!, fingerprint), replayed: true };
    this.driver.wake();
    return { batch: added, replayed: false };
  }

  /** Returns the batch before anything has been done for it. undefined: its idempotency key is taken. */
  private add(row: BatchInsert): Promise<Batch | undefined> {
    return this.database.transaction(async (query) => {
      if (!(await insertBatch({ query }, row))) return undefined;
      const { id, keyId, inputFileId } = row;
      if (!(await this.uses.ofBatch({ query }, id, keyId, [inputFileId]))) throw unknownInput();
      return findBatch({ query }, id, keyId);
    });
  }

  async get({ keyId }: Pick<Caller, 'keyId'>, id: string): Promise<Batch> {
    const batch = await findBatch(this.database, id, keyId);
    if (batch === undefined) throw unknownBatch();
    return batch;
  }

  /** Finds a batch of any key, for the service itself. */
  find(id: string): Promise<Batch | undefined> {
    return findBatch(this.database, id);
  }

  /** Newest first. */
  list({ keyId }: Pick<Caller, 'keyId'>, page: BatchesPage): Promise<Batch[]> {
    return listBatches(this.database, keyId, page);
  }

  /** Idempotent. Lines that wait are over at once; those that run may take a moment. */
  async cancel(caller: Pick<Caller, 'keyId'>, id: string): Promise<Batch> {
    const { status } = await this.get(caller, id);
    assertCancellable(status);
    await cancelBatch(this.database, id);
    this.driver.wake();
    return this.get(caller, id);
  }

  /** Deletes an ended batch with its files. Its requests are kept as others are. */
  async remove(caller: Pick<Caller, 'keyId'>, id: string): Promise<void> {
    const { endedAtMs } = await this.get(caller, id);
    if (endedAtMs === null)
      throw new DomainError('conflict', 'The batch has not ended yet. Cancel it first, or wait for its end.');
    if (!(await this.pruner.remove(id))) throw unknownBatch();
  }

  /** Yields the lines that have succeeded so far, as they are at the time of the call. */
  readOutput(batch: Batch): AsyncGenerator<Buffer> {
    return this.read(batch, 'output');
  }

  /** Yields the lines without an output so far. */
  readErrors(batch: Batch): AsyncGenerator<Buffer> {
    return this.read(batch, 'errors');
  }

  private async *read(batch: Batch, kind: SegmentKind): AsyncGenerator<Buffer> {
    const { segments, erased, lines } = await readBatchFile(this.database, batch.id, kind);
    for (const { fileId, bytes } of segments) {
      const file = await this.files.byId(fileId);
      if (file === undefined) throw unknownBatch();
      const segment = (await this.files.read(file, { start: 0, end: bytes - 1 })) as AsyncIterable<Buffer>;
      yield* erased.length === 0 ? segment : this.erased.without(batch, new Set(erased), segment);
    }
    for await (const { bytes } of this.results.pieces(batch, kind, lines)) yield bytes;
  }

  /** A repeated call adds no batch, so it needs no room. */
  private async assertRoom(keyId: string, idempotencyKey: string | undefined): Promise<void> {
    if ((await countOpenBatches(this.database, keyId)) < maxOpen) return;
    const isRepeated =
      idempotencyKey !== undefined &&
      (await findBatchByKey(this.database, keyId, idempotencyKey)) !== undefined;
    if (isRepeated) return;
    const detail = `${maxOpen} batches of this key have not ended yet, which is the limit. Try again once some have.`;
    throw new DomainError('queue_full', detail, { retryAfterSeconds: 30 });
  }

  private async stored(
    keyId: string,
    input: NewBatch['input'],
    base: string,
  ): Promise<{ id: string; sha256: Buffer }> {
    if ('lines' in input) {
      const file = { keyId, contentType: linesType, fileName: 'input.jsonl' };
      return this.uploads.store(file, input.lines, input.announcedBytes, base);
    }
    const file = await this.files.byId(input.fileId);
    if (file === undefined) throw unknownInput();
    return file;
  }

  private async repeated(keyId: string, idempotencyKey: string, fingerprint: Buffer): Promise<Batch> {
    const known = await findBatchByKey(this.database, keyId, idempotencyKey);
    if (known?.fingerprint.equals(fingerprint) === true) return this.get({ keyId }, known.id);
    const detail = 'This Idempotency-Key was used for another batch within the last 24 hours. Use a new key.';
    throw new DomainError('idempotency_key_reused', detail);
  }
}

export function unknownInput(): DomainError {
  const detail = 'There is no such file, it has not been uploaded yet, or it belongs to another key.';
  return new DomainError('input_file_not_found', detail);
}

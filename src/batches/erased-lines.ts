import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { BytesMissing, Files } from '../files/files.js';
import { FileUses } from '../queue/retention/file-uses.js';
import type { Batch } from './batch.js';
import { erasedError } from './batch-errors.js';
import { linesType } from './segment-writer.js';
import { LineFormats } from './line-formats.js';
import { linesOf } from './text-lines.js';
import {
  batchesWithErasedLines,
  erasedLinesOf,
  markErasedLinesGone,
  replaceSegment,
  type StoredSegment,
} from './queries/erased-lines.js';
import { findBatch } from './queries/read-batches.js';

/** The beginning of a line, which has its ids: a `custom_id` has at most 512 characters, maybe escaped. */
const headBytes = 4_096;
const lineBreak = Buffer.from('\n');

/** Takes the lines of erased requests out of the files of batches. */
@Injectable()
export class ErasedLines {
  constructor(
    private readonly database: Database,
    private readonly files: Files,
    private readonly uses: FileUses,
    private readonly formats: LineFormats,
  ) {}

  /** Yields a segment, with an error in the place of each line whose request was erased. */
  async *without(
    batch: Batch,
    erased: ReadonlySet<string>,
    segment: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const format = this.formats.find(batch.format)!;
    for await (const { bytes } of linesOf(segment, Infinity)) {
      const head = format.headOf(bytes.subarray(0, headBytes).toString());
      const isErased = head !== undefined && erased.has(head.requestId);
      yield isErased ? Buffer.from(format.error({ ...head, error: erasedError }, batch)) : bytes;
      yield lineBreak;
    }
  }

  /** Rewrites the segments of ended batches that have lines of erased requests. */
  async rewriteAll(): Promise<void> {
    for (const id of await batchesWithErasedLines(this.database)) await this.rewrite(id);
  }

  private async rewrite(batchId: string): Promise<void> {
    const batch = await findBatch(this.database, batchId);
    const { erased, segments } = await erasedLinesOf(this.database, batchId);
    if (batch === undefined || this.formats.find(batch.format) === undefined) return;
    for (const segment of segments)
      try {
        if (!(await this.rewriteSegment(batch, segment, new Set(erased)))) return;
      } catch (error) {
        // The bytes of the segment are gone, so nothing is left to erase. The next batches must not wait for this one.
        if (!(error instanceof BytesMissing)) throw error;
      }
    await markErasedLinesGone(this.database, batchId, erased);
  }

  /** Returns false if another node has rewritten it at the same time, or the batch is gone. */
  private async rewriteSegment(
    batch: Batch,
    segment: StoredSegment,
    erased: ReadonlySet<string>,
  ): Promise<boolean> {
    const { id, keyId } = batch;
    if (!(await this.hasAny(batch, segment, erased))) return true;
    const file = { keyId, contentType: linesType, fileName: `${segment.kind}.jsonl` };
    const { id: fileId } = await this.files.add(file, 1);
    const lines = this.without(batch, erased, await this.read(segment));
    const written = await this.files.write(fileId, 1, lines);
    if (written === undefined) return false;
    return this.database.transaction(async (query) => {
      const by = { fileId, bytes: written.size };
      if (!(await replaceSegment({ query }, id, segment, by))) return false;
      if (!(await this.uses.ofBatch({ query }, id, keyId, [fileId])))
        throw new Error('the file of a segment was removed before it was used');
      await this.uses.endOfBatch({ query }, id, segment.fileId);
      return true;
    });
  }

  private async hasAny(batch: Batch, segment: StoredSegment, erased: ReadonlySet<string>): Promise<boolean> {
    const format = this.formats.find(batch.format)!;
    for await (const { bytes } of linesOf(await this.read(segment), Infinity)) {
      const head = format.headOf(bytes.subarray(0, headBytes).toString());
      if (head !== undefined && erased.has(head.requestId)) return true;
    }
    return false;
  }

  private async read({ fileId, bytes }: StoredSegment): Promise<AsyncIterable<Buffer>> {
    const file = await this.files.byId(fileId);
    if (file === undefined) throw new BytesMissing();
    return (await this.files.read(file, { start: 0, end: bytes - 1 })) as AsyncIterable<Buffer>;
  }
}

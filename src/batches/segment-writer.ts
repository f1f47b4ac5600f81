import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Database } from '../database/database.js';
import { Files } from '../files/files.js';
import { FileUses } from '../queue/retention/file-uses.js';
import type { FinishedOutcome, SegmentKind } from './batch.js';
import type { LeasedBatch } from './queries/drive.js';
import { type FinishedLine, finishedLines, recordSegment } from './queries/lines.js';
import { type Piece, ResultLines } from './result-lines.js';

/** A segment has at most this many lines, and ends with the piece that reaches these bytes. */
const segmentLines = 1_000;
const segmentBytes = 8 * 1024 ** 2;

export const linesType = 'application/x-ndjson';

/** For `@OnEvent`: lines of a batch are in its files. */
export const batchLines = 'batch.lines';

export interface BatchLines {
  outcomes: readonly FinishedOutcome[];
}

/** Writes finished lines into the output and error files of their batch, one segment at a time. */
@Injectable()
export class SegmentWriter {
  constructor(
    private readonly database: Database,
    private readonly files: Files,
    private readonly uses: FileUses,
    private readonly results: ResultLines,
    private readonly emitter: EventEmitter2,
  ) {}

  /**
   * Writes a segment of one of the files. Returns how many lines it has; 0: none is finished. The bytes are stored
   * before the commit that counts the lines. A file whose commit fails belongs to nothing, and is deleted after a day.
   */
  async write(batch: LeasedBatch, kind: SegmentKind): Promise<number> {
    const found = await finishedLines(this.database, batch.id, kind, segmentLines);
    const pieces = this.results.pieces(batch, kind, found);
    const first = await pieces.next();
    if (first.done === true) return 0;
    const lines: FinishedLine[] = [];
    const { id: fileId } = await this.files.add(
      { keyId: batch.keyId, contentType: linesType, fileName: `${kind}.jsonl` },
      1,
    );
    const written = await this.files.write(fileId, 1, segmentOf(first.value, pieces, lines));
    if (written === undefined) throw new Error('the file of a segment was removed while it was written');
    await this.database.transaction(async (query) => {
      await recordSegment({ query }, batch, { kind, fileId, bytes: written.size, lines });
      if (!(await this.uses.ofBatch({ query }, batch.id, batch.keyId, [fileId])))
        throw new Error('the file of a segment was removed before it was used');
    });
    const outcomes = lines.map(({ outcome }) => outcome);
    this.emitter.emit(batchLines, { outcomes } satisfies BatchLines);
    return lines.length;
  }
}

/** Yields the bytes of a segment, and adds their lines to `lines`. */
async function* segmentOf(
  first: Piece,
  others: AsyncIterable<Piece>,
  lines: FinishedLine[],
): AsyncGenerator<Buffer> {
  let bytes = first.bytes.length;
  lines.push(...first.lines);
  yield first.bytes;
  if (bytes >= segmentBytes) return;
  for await (const piece of others) {
    bytes += piece.bytes.length;
    lines.push(...piece.lines);
    yield piece.bytes;
    if (bytes >= segmentBytes) return;
  }
}

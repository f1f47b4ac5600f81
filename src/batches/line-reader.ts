import { Injectable } from '@nestjs/common';
import { readLineMembers } from '../json/batch-line.js';
import { JsonThreads } from '../json/json-threads.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { type InputLine, LineFormats } from './line-formats.js';
import type { LeasedBatch } from './queries/drive.js';

/** Reads the lines of batches in their formats, large ones in a thread. */
@Injectable()
export class LineReader {
  constructor(
    private readonly formats: LineFormats,
    private readonly json: JsonThreads,
  ) {}

  /** Throws what is wrong with the line. Its bytes must not be used afterwards. */
  async read(line: Buffer, batch: LeasedBatch): Promise<InputLine> {
    const format = this.formats.find(batch.format)!;
    const [members, input] =
      line.length <= maxInlineBytes
        ? readLineMembers(line, format.terms)
        : await this.json.run('line', format.terms, line, { caller: batch.keyId, isAccepted: true });
    return { ...format.read(members, batch), input };
  }
}

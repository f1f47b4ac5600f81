import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { Files } from '../files/files.js';
import { linesOf, type TextLine } from './lines-of.js';

/** Reads the input files of batches. */
@Injectable()
export class BatchInput {
  constructor(
    private readonly files: Files,
    private readonly config: Config,
  ) {}

  /** Yields the lines of a file from this byte on, at which a line begins. `end` counts from the first byte of the file. */
  async *lines(fileId: string, from: number): AsyncGenerator<TextLine> {
    const file = await this.files.byId(fileId);
    if (file === undefined)
      throw new DomainError('unavailable', 'The input of the batch cannot be read now.');
    if (from >= file.size) return;
    const source = await this.files.read(file, { start: from, end: file.size - 1 });
    try {
      for await (const line of linesOf(source as AsyncIterable<Buffer>, this.config.maxBodyBytes))
        yield { ...line, end: from + line.end };
    } finally {
      source.destroy();
    }
  }
}

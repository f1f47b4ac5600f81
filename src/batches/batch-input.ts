import { Injectable } from '@nestjs/common';
import { DomainError } from '../errors/domain-error.js';
import { BytesMissing, Files } from '../files/files.js';
import { linesOf, type TextLine } from './text-lines.js';

/** The input of a batch was erased, or its bytes are gone from the store. It will not be readable again. */
export class InputLost extends DomainError {
  constructor() {
    super(
      'input_file_not_found',
      'The input file of the batch was deleted before it was read to its end. Upload it again and make a new batch.',
    );
  }
}

/** Reads the input files of batches. */
@Injectable()
export class BatchInput {
  constructor(private readonly files: Files) {}

  /**
   * Yields the lines of a file from this byte on, which must be the beginning of a line. `end` counts from the first
   * byte of the file. Throws `InputLost` if the rest of the file is gone, and `LineTooLong`. `signal` ends the
   * reading, even if no byte comes.
   */
  async *lines(
    fileId: string,
    from: number,
    signal: AbortSignal,
    maxLineBytes = Infinity,
  ): AsyncGenerator<TextLine> {
    const file = await this.files.byId(fileId);
    if (file === undefined) throw new InputLost();
    if (from >= file.size) return;
    const source = await this.files
      .read(file, { start: from, end: file.size - 1 })
      .catch((error: unknown) => {
        throw error instanceof BytesMissing ? new InputLost() : error;
      });
    const stop = (): void => void source.destroy(signal.reason as Error);
    signal.addEventListener('abort', stop);
    try {
      signal.throwIfAborted();
      const bytes = allOf(source as AsyncIterable<Buffer>, file.size - from);
      for await (const line of linesOf(bytes, maxLineBytes)) yield { ...line, end: from + line.end };
    } finally {
      signal.removeEventListener('abort', stop);
      source.destroy();
    }
  }
}

/** A stored file that was cut short ends within a line, which must not be read as a whole one. */
async function* allOf(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let left = size;
  for await (const chunk of source) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new InputLost();
}

import { DomainError } from '../errors/domain-error.js';
import { Pieces } from '../tools/pieces.js';

/** A line of a file, without its line break. */
export interface TextLine {
  bytes: Buffer;
  /** Counted from 1, blank lines included. */
  number: number;
  /** The place behind it and its line break, counted from the first byte of the source. */
  end: number;
}

const lineFeed = 0x0a;

/** Yields the lines of a file as its chunks come, without blank ones. Throws if a line has more bytes than `maxBytes`. */
export async function* linesOf(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<TextLine> {
  let number = 0;
  let end = 0;
  const parts = new Pieces();
  let length = 0;
  const finish = (last: Buffer, breakLength: number): TextLine => {
    const bytes = length === 0 ? last : Buffer.concat([...parts.take(), last]);
    if (bytes.length > maxBytes) throw tooLong(number + 1, maxBytes);
    length = 0;
    return { bytes, number: ++number, end: (end += bytes.length + breakLength) };
  };
  for await (const chunk of source) {
    let from = 0;
    const skip = (): void => {
      const blank = length === 0 ? blankLines(chunk, from) : { lines: 0, end: from };
      number += blank.lines;
      end += blank.end - from;
      from = blank.end;
    };
    skip();
    for (let at = chunk.indexOf(lineFeed, from); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      const line = finish(chunk.subarray(from, at), 1);
      from = at + 1;
      if (!isBlank(line.bytes)) yield line;
      skip();
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > maxBytes) throw tooLong(number + 1, maxBytes);
  }
  if (length === 0) return;
  const line = finish(Buffer.alloc(0), 0);
  if (!isBlank(line.bytes)) yield line;
}

/** A line that is too long, with its number. */
export class LineTooLong extends DomainError {
  constructor(
    readonly line: number,
    maxBytes: number,
  ) {
    super('too_large', `A line may have ${maxBytes} bytes at most.`);
  }
}

const tooLong = (line: number, maxBytes: number): LineTooLong => new LineTooLong(line, maxBytes);

/** Counts the blank lines that begin here. A file may have a billion of them, so nothing is made for each. */
function blankLines(chunk: Buffer, from: number): { lines: number; end: number } {
  let lines = 0;
  let end = from;
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]!;
    if (byte === lineFeed) {
      lines++;
      end = at + 1;
    } else if (!isSpace(byte)) break;
  }
  return { lines, end };
}

/** Spaces, tabs and a carriage return are no line. */
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;

const isBlank = (bytes: Buffer): boolean => bytes.every(isSpace);

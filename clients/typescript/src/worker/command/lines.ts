import { StringDecoder } from 'node:string_decoder';
import { LineSplitter } from '../../lines.js';

/** Splits bytes into lines as they arrive, without the blank ones. */
export class Lines {
  private readonly decoder = new StringDecoder('utf8');
  private readonly lines: LineSplitter;

  /** A line longer than `maxLength` is returned in several pieces. */
  constructor(separator: RegExp, maxLength: number) {
    this.lines = new LineSplitter(separator, maxLength);
  }

  push(chunk: Uint8Array): string[] {
    return withoutBlanks(this.lines.push(this.decoder.write(chunk)));
  }

  end(): string[] {
    return withoutBlanks([...this.lines.push(this.decoder.end()), this.lines.rest]);
  }
}

const withoutBlanks = (lines: readonly string[]): string[] => lines.filter((line) => line.trim() !== '');

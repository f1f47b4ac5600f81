import { StringDecoder } from 'node:string_decoder';

/** Splits text into lines as it arrives. */
export class Lines {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  /** A line longer than `maxLength` is returned in several pieces. */
  constructor(
    private readonly separator: RegExp,
    private readonly maxLength: number,
  ) {}

  push(chunk: Uint8Array): string[] {
    const lines = (this.rest + this.decoder.write(chunk)).split(this.separator);
    this.rest = lines.pop()!;
    while (this.rest.length > this.maxLength) {
      lines.push(this.rest.slice(0, this.maxLength));
      this.rest = this.rest.slice(this.maxLength);
    }
    return lines.filter((line) => line.trim() !== '');
  }

  end(): string[] {
    const last = this.rest + this.decoder.end();
    this.rest = '';
    return last.trim() === '' ? [] : [last];
  }
}

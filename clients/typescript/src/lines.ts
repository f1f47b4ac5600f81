/** Splits text into lines as it arrives. A long line is joined once, when its end has arrived. */
export class LineSplitter {
  private pieces: string[] = [];
  private length = 0;

  /** A line longer than `maxLength` is returned in several pieces. */
  constructor(
    private readonly separator: RegExp,
    private readonly maxLength = Infinity,
  ) {}

  /** The line that has not ended yet. */
  get rest(): string {
    return this.pieces.join('');
  }

  /** Returns the lines that this piece of text completes. */
  push(text: string): string[] {
    const mayEnd = /[\r\n]/.test(text) || this.pieces.at(-1)?.endsWith('\r') === true;
    this.pieces.push(text);
    this.length += text.length;
    if (!mayEnd && this.length <= this.maxLength) return [];
    const lines = this.rest.split(this.separator);
    let rest = lines.pop()!;
    for (; rest.length > this.maxLength; rest = rest.slice(this.maxLength))
      lines.push(rest.slice(0, this.maxLength));
    this.pieces = [rest];
    this.length = rest.length;
    return lines;
  }
}

import { type Assembler, type AssemblerKind, assemblerOf, type JsonObject } from '../../json/assemblers.js';
import { type FileAsk, type FoundOutput, outputIn } from '../../json/mapped-json.js';
import type { Path } from '../../json/paths.js';
import type { AnswerReader } from './answer-reader.js';

/**
 * The answer that the chunks of a stream add up to, such as a chat. An assembler of `json/assemblers.ts` adds small
 * chunks here. A thread adds a large one, and returns the sum of all chunks so far as JSON.
 */
export class Assembly {
  private assembler: Assembler;
  /** The sum of the chunks up to the last large one, as JSON. The assembler has those since. */
  private sum: Buffer | undefined;
  private hasMore = false;

  constructor(
    private readonly kind: AssemblerKind,
    private readonly reader: AnswerReader,
  ) {
    this.assembler = assemblerOf(kind);
  }

  /** True: all parts that have begun have ended, as far as the chunks show. */
  get isComplete(): boolean {
    return this.assembler.isComplete;
  }

  /** The length of the JSON that the chunks add up to, or less. */
  get length(): number {
    return (this.sum?.length ?? 0) + this.assembler.length;
  }

  add(chunk: JsonObject): void {
    this.assembler.add(chunk);
    this.hasMore = true;
  }

  /** `chunk`: JSON text without a line break. */
  async addLarge(chunk: string): Promise<void> {
    const { ends, bytes } = await this.reader.assembled(this.kind, [...this.sums, Buffer.from(chunk)]);
    this.sum = bytes;
    this.assembler = assemblerOf(this.kind);
    this.assembler.add(ends);
    this.hasMore = false;
  }

  /** Returns the answer in pieces, with the bytes of its files. */
  async output(files: readonly FileAsk<Path>[]): Promise<[FoundOutput, Buffer]> {
    const ask = { paths: [], files };
    if (this.sum === undefined) {
      const [found, bytes] = outputIn(this.assembler.output, undefined, ask);
      return [found!, bytes];
    }
    const { output, bytes } = await this.reader.assembled(this.kind, this.sums, ask);
    return [output!, bytes];
  }

  private get sums(): Buffer[] {
    const more = this.hasMore ? [Buffer.from(JSON.stringify(this.assembler.sum))] : [];
    return this.sum === undefined ? more : [this.sum, ...more];
  }
}

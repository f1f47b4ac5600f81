const blockSize = 512;

/** Columns of one block: entries ascend by start, then by seq. */
interface Block {
  starts: number[];
  seqs: number[];
  tags: number[];
}

export interface Place {
  start: number;
  seq: number;
}

/**
 * Entries with a number each, ascending, in sorted blocks of a few hundred. The sizes of the blocks are summed when a
 * rank is asked for. A queue adds near the end and removes at the front, which costs the same with a million entries as
 * with a hundred.
 */
export class OrderedSet {
  private blocks: Block[] = [];
  size = 0;
  /**
   * How many entries are in the blocks before each. The numbers are valid up to `summed`, until a block before that
   * changes.
   */
  private readonly before: number[] = [0];
  private summed = 0;

  first(): Place | undefined {
    const block = this.blocks[0];
    return block && { start: block.starts[0]!, seq: block.seqs[0]! };
  }

  /** Returns the entry with the lowest seq. Reads all entries: 3 ms for a million. */
  oldest(): Place | undefined {
    let [start, seq] = [0, Infinity];
    for (const { starts, seqs } of this.blocks)
      for (let at = 0; at < seqs.length; at++) if (seqs[at]! < seq) [start, seq] = [starts[at]!, seqs[at]!];
    return seq === Infinity ? undefined : { start, seq };
  }

  last(): Place | undefined {
    const block = this.blocks.at(-1);
    return block && { start: block.starts.at(-1)!, seq: block.seqs.at(-1)! };
  }

  at(index: number): Place | undefined {
    let left = index;
    for (const { starts, seqs } of this.blocks) {
      if (left < seqs.length) return { start: starts[left]!, seq: seqs[left]! };
      left -= seqs.length;
    }
    return undefined;
  }

  /** Returns the last start with this tag. Reads from the end. */
  lastStartOf(tag: number): number | undefined {
    for (let index = this.blocks.length - 1; index >= 0; index--) {
      const { starts, tags } = this.blocks[index]!;
      const at = tags.lastIndexOf(tag);
      if (at >= 0) return starts[at]!;
    }
    return undefined;
  }

  /** Returns false if the entry was there already. */
  add(start: number, seq: number, tag: number): boolean {
    const last = this.blocks.at(-1);
    if (last === undefined || isBelow(last, last.seqs.length - 1, start, seq)) {
      if (last === undefined || last.seqs.length >= blockSize)
        this.blocks.push({ starts: [start], seqs: [seq], tags: [tag] });
      else {
        last.starts.push(start);
        last.seqs.push(seq);
        last.tags.push(tag);
      }
      this.changed(this.blocks.length - 1, 1);
      return true;
    }
    const index = this.blockOf(start, seq);
    const block = this.blocks[index]!;
    const at = lowerBound(block, start, seq);
    if (isAt(block, at, start, seq)) return false;
    block.starts.splice(at, 0, start);
    block.seqs.splice(at, 0, seq);
    block.tags.splice(at, 0, tag);
    if (block.seqs.length > 2 * blockSize) {
      const { starts, seqs, tags } = block;
      const rest = {
        starts: starts.splice(blockSize),
        seqs: seqs.splice(blockSize),
        tags: tags.splice(blockSize),
      };
      this.blocks.splice(index + 1, 0, rest);
    }
    this.changed(index, 1);
    return true;
  }

  /** Returns the tag of the entry; undefined: it was not there. */
  remove(start: number, seq: number): number | undefined {
    const index = this.blockOf(start, seq);
    const block = this.blocks[index];
    const at = block === undefined ? 0 : lowerBound(block, start, seq);
    if (block === undefined || !isAt(block, at, start, seq)) return undefined;
    const tag = block.tags[at]!;
    if (block.seqs.length === 1) this.blocks.splice(index, 1);
    else {
      block.starts.splice(at, 1);
      block.seqs.splice(at, 1);
      block.tags.splice(at, 1);
    }
    this.changed(index, -1);
    return tag;
  }

  has(start: number, seq: number): boolean {
    const block = this.blocks[this.blockOf(start, seq)];
    return block !== undefined && isAt(block, lowerBound(block, start, seq), start, seq);
  }

  rank(start: number, seq: number): number {
    const index = this.blockOf(start, seq);
    for (; this.summed < index; this.summed++) {
      this.before[this.summed + 1] = this.before[this.summed]! + this.blocks[this.summed]!.seqs.length;
    }
    const block = this.blocks[index];
    return this.before[index]! + (block === undefined ? 0 : lowerBound(block, start, seq));
  }

  private changed(index: number, by: number): void {
    this.size += by;
    this.summed = Math.min(this.summed, index);
  }

  /** Returns the index of the first block whose last entry is not below it. */
  private blockOf(start: number, seq: number): number {
    return search(this.blocks.length, (index) => {
      const block = this.blocks[index]!;
      return isBelow(block, block.seqs.length - 1, start, seq);
    });
  }
}

function isBelow({ starts, seqs }: Block, at: number, start: number, seq: number): boolean {
  return starts[at]! < start || (starts[at] === start && seqs[at]! < seq);
}

function isAt({ starts, seqs }: Block, at: number, start: number, seq: number): boolean {
  return seqs[at] === seq && starts[at] === start;
}

function lowerBound(block: Block, start: number, seq: number): number {
  return search(block.seqs.length, (at) => isBelow(block, at, start, seq));
}

/** Returns the first index below `count` that is not below the place that is looked for. */
export function search(count: number, isBelowAt: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBelowAt(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

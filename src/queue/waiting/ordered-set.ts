const blockSize = 512;

/**
 * Ascending numbers in sorted blocks of a few hundred, whose sizes are summed when a rank is asked for. What a queue
 * does, appending at the end and removing at the front, costs the same at a million as at a hundred.
 */
export class OrderedSet {
  private blocks: number[][] = [];
  size = 0;
  /** How many numbers are in the blocks before each: right up to `summed`, and there until a block before changes. */
  private readonly before: number[] = [0];
  private summed = 0;

  first(): number | undefined {
    return this.blocks[0]?.[0];
  }

  /** False when it was there already. */
  add(value: number): boolean {
    const last = this.blocks[this.blocks.length - 1];
    if (last === undefined || value > last[last.length - 1]!) {
      if (last === undefined || last.length >= blockSize) this.blocks.push([value]);
      else last.push(value);
      this.changed(this.blocks.length - 1);
      return true;
    }
    const index = this.blockOf(value);
    const block = this.blocks[index]!;
    const at = lowerBound(block, value);
    if (block[at] === value) return false;
    block.splice(at, 0, value);
    if (block.length > 2 * blockSize) this.blocks.splice(index + 1, 0, block.splice(blockSize));
    this.changed(index);
    return true;
  }

  /** False when it was not there. */
  remove(value: number): boolean {
    if (this.size === 0) return false;
    const index = this.blockOf(value);
    const block = this.blocks[index];
    const at = block === undefined ? -1 : lowerBound(block, value);
    if (block === undefined || block[at] !== value) return false;
    if (block.length === 1) this.blocks.splice(index, 1);
    else block.splice(at, 1);
    this.changed(index, -1);
    return true;
  }

  rank(value: number): number {
    const index = this.blockOf(value);
    for (; this.summed < index; this.summed++) {
      this.before[this.summed + 1] = this.before[this.summed]! + this.blocks[this.summed]!.length;
    }
    const block = this.blocks[index];
    return this.before[index]! + (block === undefined ? 0 : lowerBound(block, value));
  }

  private changed(index: number, by = 1): void {
    this.size += by;
    this.summed = Math.min(this.summed, index);
  }

  /** Index of the first block whose last number is not below `value`. */
  private blockOf(value: number): number {
    return search(this.blocks.length, (index) => this.blocks[index]!.at(-1)! < value);
  }
}

function lowerBound(block: number[], value: number): number {
  return search(block.length, (index) => block[index]! < value);
}

/** The first index, of so many, that is not below what is looked for. */
function search(count: number, isBelow: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

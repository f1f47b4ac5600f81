/** Random numbers that a seed repeats (mulberry32). */
export class Random {
  private state: number;

  constructor(private readonly seed: string) {
    this.state = 0x811c9dc5;
    for (const character of seed) {
      this.state = Math.imul(this.state ^ character.codePointAt(0)!, 0x01000193) >>> 0;
    }
  }

  /** A stream of its own, so that the draws of one part do not change the draws of another. */
  fork(name: string): Random {
    return new Random(`${this.seed}/${name}`);
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** Includes both ends. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[Math.floor(this.next() * items.length)]!;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(Math.floor(this.next() * left.length), 1)[0]!);
  }
}

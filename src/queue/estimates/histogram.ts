/** Buckets per factor of two in time; a bucket is 9 % wide. */
const bucketsPerOctave = 8;
/** Up to 4.6 hours; a longer time counts as that. */
const buckets = 24 * bucketsPerOctave;
/** Times that count less than this are forgotten: so many newer ones have come since. */
export const minWeight = 0.001;

/** The histogram as it is stored. */
export interface StoredHistogram {
  /** Weights by bucket of the logarithm, without the empty buckets at the end. */
  weights: readonly number[];
  sumMs: number;
  /** The sum of the squares of the milliseconds. */
  squares: number;
}

/** Counts how often times occurred, by their logarithms. */
export class Histogram {
  private readonly weights = new Float64Array(buckets);
  private sumMs = 0;
  private squares = 0;
  count = 0;

  get meanMs(): number {
    return this.sumMs / this.count;
  }

  /** The square of the standard deviation divided by the square of the mean. */
  get variation(): number {
    return Math.max(0, this.squares / this.count / this.meanMs ** 2 - 1);
  }

  add(ms: number): void {
    const time = Math.max(1, ms);
    this.weights[Math.min(buckets - 1, Math.floor(Math.log2(time) * bucketsPerOctave))]! += 1;
    this.sumMs += time;
    this.squares += time * time;
    this.count++;
  }

  merge({ weights, sumMs, squares }: StoredHistogram): void {
    weights.forEach((weight, bucket) => {
      this.weights[bucket]! += weight;
      this.count += weight;
    });
    this.sumMs += sumMs;
    this.squares += squares;
  }

  halve(): void {
    for (let bucket = 0; bucket < buckets; bucket++) this.weights[bucket]! /= 2;
    this.sumMs /= 2;
    this.squares /= 2;
    this.count /= 2;
  }

  toStored(): StoredHistogram {
    const end = 1 + this.weights.findLastIndex((weight) => weight > 0);
    return { weights: [...this.weights.subarray(0, end)], sumMs: this.sumMs, squares: this.squares };
  }

  /** Returns the time that this part of the times above `aboveMs` does not exceed. undefined: no time is that long. */
  quantileMs(part: number, aboveMs = 0): number | undefined {
    const from = aboveMs <= 1 ? 0 : Math.log2(aboveMs) * bucketsPerOctave;
    const first = Math.floor(from);
    // Only the part of the first bucket above that point counts.
    const weightOf = (bucket: number): number => {
      const weight = this.weights[bucket]!;
      return weight < minWeight ? 0 : weight * Math.min(1, bucket + 1 - from);
    };
    let above = 0;
    for (let bucket = first; bucket < buckets; bucket++) above += weightOf(bucket);
    let left = part * above;
    let found: number | undefined;
    for (let bucket = first; bucket < buckets; bucket++) {
      const weight = weightOf(bucket);
      if (weight === 0) continue;
      const begin = Math.max(bucket, from);
      const share = Math.min(1, left / weight);
      found = 2 ** ((begin + (bucket + 1 - begin) * share) / bucketsPerOctave);
      if (left <= weight) return found;
      left -= weight;
    }
    // Rounding may leave more than the last weight.
    return found;
  }
}

/** A small generator with a seed (mulberry32), and the distributions drawn from it. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** Returns a number from 0 to below 1. */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(from, to) {
    return from + this.next() * (to - from);
  }

  /** Returns a whole number below `count`. */
  below(count) {
    return Math.floor(this.next() * count);
  }

  exponential(mean) {
    return -mean * Math.log(1 - this.next());
  }

  /** Returns a log-normal number with this mean; `spread`: the standard deviation of its logarithm. */
  logNormal(mean, spread) {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return mean * Math.exp(spread * normal - (spread * spread) / 2);
  }

  /** Returns a whole number of at least 1, with a heavy tail up to `max`. */
  heavyTailed(max, shape = 1.1) {
    return Math.min(max, Math.floor((1 - this.next()) ** (-1 / shape)));
  }
}

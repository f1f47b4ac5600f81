/** Measures the lowest Jain's index of fairness over any `windowStarts` consecutive starts of some keys. */
export class Jain {
  /**
   * @param {Map<number, number>} weights of the keys that always have work
   * @param {number} windowStarts
   */
  constructor(weights, windowStarts) {
    this.weights = weights;
    this.windowStarts = windowStarts;
    this.window = [];
    this.next = 0;
    this.counts = new Map([...weights.keys()].map((key) => [key, 0]));
    this.sum = 0;
    this.squares = 0;
    this.lowest = 1;
    this.windows = 0;
  }

  started(key) {
    if (!this.weights.has(key)) return;
    this.add(key, 1);
    if (this.window.length < this.windowStarts) {
      this.window.push(key);
      if (this.window.length < this.windowStarts) return;
    } else {
      this.add(this.window[this.next], -1);
      this.window[this.next] = key;
      this.next = (this.next + 1) % this.windowStarts;
    }
    this.windows++;
    this.lowest = Math.min(this.lowest, this.sum ** 2 / (this.weights.size * this.squares));
  }

  add(key, by) {
    const weight = this.weights.get(key);
    const before = this.counts.get(key);
    this.counts.set(key, before + by);
    this.sum += by / weight;
    this.squares += ((before + by) / weight) ** 2 - (before / weight) ** 2;
  }
}

/** Measures the turns of one priority in starts: how long newcomers wait, and whether any key is left out. */
export class Turns {
  constructor({ agenda, slots, lateMs }, warmUp) {
    Object.assign(this, { agenda, slots, warmUp, lateMs: lateMs[1] });
    this.starts = 0;
    this.keys = new Map();
    this.newcomers = 0;
    /** The keys with work, each counted by its weight. */
    this.withWork = 0;
    /** As a fraction of the bound: above 1 is too long. */
    this.longestNewcomer = 0;
    this.longestPause = 0;
  }

  written({ key, ticks }) {
    let line = this.keys.get(key);
    const isNew = line === undefined;
    if (isNew) this.keys.set(key, (line = { waiting: 0, weight: 1_000 / ticks }));
    if (line.waiting++ > 0) return;
    this.withWork += line.weight;
    this.newcomers++;
    this.begin(line, isNew);
    if (!isNew) return;
    const { newcomers } = this;
    // Keys that come before the nodes know of this one have the same right as those before it.
    this.agenda.in(this.lateMs, () => {
      if (line.isNew) line.others += this.newcomers - newcomers;
    });
  }

  started({ key, isImmediate }) {
    this.starts++;
    if (isImmediate) return;
    const line = this.keys.get(key);
    this.look(line, this.starts - 1 - line.since);
    if (--line.waiting === 0) this.withWork -= line.weight;
    this.begin(line, false);
  }

  cancelled({ key }) {
    const line = this.keys.get(key);
    if (--line.waiting === 0) this.withWork -= line.weight;
  }

  /** Counts keys that never had another turn too. */
  close() {
    for (const line of this.keys.values()) if (line.waiting > 0) this.look(line, this.starts - line.since);
  }

  begin(line, isNew) {
    Object.assign(line, { since: this.starts, others: this.withWork, newcomers: this.newcomers, isNew });
  }

  look({ isNew, since, others, newcomers, weight }, starts) {
    if (since < this.warmUp) return;
    // The bound in rounds of one start a slot: as many rounds as keys share a slot, plus 2.
    if (isNew) this.longestNewcomer = Math.max(this.longestNewcomer, starts / (others + 2 * this.slots));
    // Between two turns of a key every other key may have two, and every newcomer one.
    const between = 2 * others + this.newcomers - newcomers;
    if (!isNew)
      this.longestPause = Math.max(
        this.longestPause,
        (starts * Math.min(1, weight)) / (between + 2 * this.slots),
      );
  }
}

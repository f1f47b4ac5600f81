import { Histogram, type StoredHistogram } from './histogram.js';

/** Fewer runs are too few for an estimate. */
const minRuns = 5;

/** The durations of a model's runs, on all nodes. Older runs count less and less. */
export class RunTimes {
  private all = new Histogram();
  private unwritten = new Histogram();
  private known: { mostMs: readonly [number, number]; longestMs: number } | undefined;

  /** The newest `memory` runs count, or up to twice as many. */
  constructor(readonly memory: number) {}

  get isKnown(): boolean {
    return this.all.count >= minRuns;
  }

  get count(): number {
    return this.all.count;
  }

  get meanMs(): number {
    return this.all.meanMs;
  }

  get variation(): number {
    return this.all.variation;
  }

  /** Eight of ten runs take longer than the first and no longer than the second. */
  get mostMs(): readonly [number, number] {
    return this.quantiles().mostMs;
  }

  get longestMs(): number {
    return this.quantiles().longestMs;
  }

  /** The same for the runs that take longer than `aboveMs`; undefined: no run did. */
  mostLeftMs(aboveMs: number): readonly [number, number] | undefined {
    const from = this.all.quantileMs(0.1, aboveMs);
    return from === undefined ? undefined : [from, this.all.quantileMs(0.9, aboveMs)!];
  }

  add(ms: number): void {
    this.all.add(ms);
    this.unwritten.add(ms);
    this.known = undefined;
    if (this.all.count > 2 * this.memory) this.all.halve();
  }

  /** Returns the run times to write now, once; undefined: there are none. */
  take(): StoredHistogram | undefined {
    if (this.unwritten.count === 0) return undefined;
    const taken = this.unwritten.toStored();
    this.unwritten = new Histogram();
    return taken;
  }

  /** Takes back run times that could not be written. */
  giveBack(taken: StoredHistogram): void {
    this.unwritten.merge(taken);
  }

  /** Takes over the stored run times of all nodes. */
  set(stored: StoredHistogram): void {
    this.all = new Histogram();
    this.all.merge(stored);
    this.all.merge(this.unwritten.toStored());
    this.known = undefined;
  }

  private quantiles(): { mostMs: readonly [number, number]; longestMs: number } {
    return (this.known ??= { mostMs: this.mostLeftMs(0)!, longestMs: this.all.quantileMs(1)! });
  }
}

import { Histogram, type StoredHistogram } from './histogram.js';

/** Fewer runs say too little. */
const minRuns = 5;

/** How long the runs of a model take, on all nodes; older ones count for less and less. */
export class RunTimes {
  private all = new Histogram();
  private unwritten = new Histogram();
  private known: { mostMs: readonly [number, number]; longestMs: number } | undefined;

  /** The newest `memory` runs have the say, or up to twice as many. */
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

  /** Eight of ten take longer than the first and no longer than the second. */
  get mostMs(): readonly [number, number] {
    return this.quantiles().mostMs;
  }

  get longestMs(): number {
    return this.quantiles().longestMs;
  }

  /** The same of those that take longer than `aboveMs`; undefined: none did. */
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

  /** What is to be written now, once; undefined: nothing. */
  take(): StoredHistogram | undefined {
    if (this.unwritten.count === 0) return undefined;
    const taken = this.unwritten.toStored();
    this.unwritten = new Histogram();
    return taken;
  }

  /** It could not be written. */
  giveBack(taken: StoredHistogram): void {
    this.unwritten.merge(taken);
  }

  /** As it is written, of all nodes. */
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

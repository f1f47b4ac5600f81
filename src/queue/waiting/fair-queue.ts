import type { Order } from '../../models/model.js';
import { HeldEntries } from './held-entries.js';
import { OrderedSet, type Place, search } from './ordered-set.js';

/** Virtual time that a request of a key of weight 1 takes. */
export const ticksOfWeight1 = 1_000;

/**
 * Returns the virtual time after which a key's next turn comes; 0: its requests wait in the order in which they came.
 */
export function ticksFor(order: Order, weight: number): number {
  return order === 'arrival' ? 0 : Math.max(1, Math.round(ticksOfWeight1 / weight));
}

/** Returns the number that stands for a key in turns: the random part of an API key's id. */
export function orderKeyOf(keyId: string): number {
  return Number.parseInt(keyId.slice(-12), 16);
}

/** The state of one key's requests. All times are virtual starts. */
interface KeyTurns {
  waiting: number;
  /** The virtual start of the last waiting request; undefined: it must be looked up. */
  lastWaiting: number | undefined;
  lastStarted: number;
  /** The number of requests without a virtual time of their own, because several nodes placed them concurrently. */
  overlapping: number;
  /** The virtual starts of requests that are being written and are not in the queue yet, ascending. */
  inFlight: number[];
  ticks: number;
}

const never = -Infinity;
/** From this many keys on, keys that no longer matter are dropped. */
const minSweep = 1_000;

/**
 * The waiting requests of one model and priority in their fair order among keys, by start-time fair queuing (Goyal, Vin
 * and Cheng, 1996). A request's virtual start is the later of two: the virtual time, which is the virtual start of the
 * request that was started last, and the virtual end of its key's last request. Its virtual end is its virtual start
 * plus 1 ÷ weight. A request that leaves the queue without a start counts for nothing: unless another request of the key
 * waits behind it, the key's next request gets its virtual start.
 */
export class FairQueue {
  private readonly entries = new OrderedSet();
  /** The entries that no claim may take yet. */
  readonly held = new HeldEntries();
  private readonly byKey = new Map<number, KeyTurns>();
  private virtualTime = 0;
  private sweepAt = minSweep;

  get size(): number {
    return this.entries.size;
  }

  /** The number of keys that the queue knows. */
  get known(): number {
    return this.byKey.size;
  }

  /** Yields how many requests wait, for each key whose turns are known. */
  *waitingByKey(): Iterable<[orderKey: number, waiting: number]> {
    for (const [key, { waiting }] of this.byKey) if (waiting > 0) yield [key, waiting];
  }

  get time(): number {
    return this.virtualTime;
  }

  /** The highest virtual start of a waiting request. */
  get last(): number {
    return this.entries.last()?.start ?? this.virtualTime;
  }

  readonly first = (): Place | undefined => this.entries.first();
  /** Returns the first entry that a claim may take. */
  firstClaimable(): Place | undefined {
    if (this.held.size === 0) return this.first();
    const isHeldTo = (index: number): boolean => {
      const { start, seq } = this.entries.at(index)!;
      return this.held.has(start, seq) && this.held.rank(start, seq) === index;
    };
    return this.entries.at(search(this.size, isHeldTo));
  }

  /** Returns about how many entries that a claim may take were submitted before `seq`. */
  older(seq: number): number {
    const [first, last] = [this.firstClaimable(), this.entries.last()];
    if (first === undefined || last === undefined || seq <= first.seq) return 0;
    const part = last.seq > first.seq ? Math.min(1, (seq - first.seq) / (last.seq - first.seq)) : 1;
    return Math.round(part * this.claimable());
  }

  /** Returns the entry that was submitted first. */
  readonly oldest = (): Place | undefined => this.entries.oldest();

  /**
   * Returns how many entries are before a place. Held entries count only for an entry that is held itself (`withHeld`).
   */
  rank({ start, seq }: Place, withHeld = false): number {
    return this.entries.rank(start, seq) - (withHeld ? 0 : this.held.rank(start, seq));
  }

  claimable(withHeld = false): number {
    return this.entries.size - (withHeld ? 0 : this.held.size);
  }

  /**
   * Returns the virtual start of a submission. `settle` follows once it is written, or its write has failed. 0 ticks:
   * by arrival.
   */
  reserve(key: number, ticks: number): number {
    if (ticks === 0) return Math.max(this.virtualTime, this.entries.last()?.start ?? 0);
    const turns = this.turnsOf(key);
    turns.ticks = ticks;
    const endOfLast = this.lastOf(turns, key) + (1 + turns.overlapping) * ticks;
    const endInFlight = (turns.inFlight.at(-1) ?? never) + ticks;
    const start = Math.max(this.virtualTime, endOfLast, endInFlight);
    turns.overlapping = 0;
    turns.inFlight.push(start);
    return start;
  }

  settle(key: number, start: number): void {
    const turns = this.byKey.get(key);
    if (turns !== undefined) land(turns, start);
  }

  /** `isNew`: just placed. An entry that returns has had its turn, and an entry that is read again was counted. */
  add({ start, seq }: Place, key: number, isNew = true): void {
    if (!this.entries.add(start, seq, key) || key === 0) return;
    const turns = this.turnsOf(key);
    if (isNew) this.charge(turns, start);
    turns.waiting++;
    // If it must be looked up, the look-up finds this entry too.
    if (turns.waiting === 1 || (turns.lastWaiting !== undefined && start > turns.lastWaiting))
      turns.lastWaiting = start;
  }

  /** An entry removed without a start gives its turn back to its key. */
  remove({ start, seq }: Place, isStarted: boolean): void {
    if (isStarted) this.advance(start);
    const turns = this.take(start, seq);
    if (turns === undefined) return;
    if (!isStarted && turns.overlapping > 0) turns.overlapping--;
    if (isStarted) turns.lastStarted = Math.max(turns.lastStarted, start);
    if (this.entries.size === 0) this.endBusyPeriod();
  }

  private take(start: number, seq: number): KeyTurns | undefined {
    this.held.remove(start, seq);
    const key = this.entries.remove(start, seq);
    if (key === undefined || key === 0) return undefined;
    const turns = this.turnsOf(key);
    turns.waiting--;
    if (turns.lastWaiting === start || turns.waiting === 0) turns.lastWaiting = undefined;
    return turns;
  }

  /** Counts entries without a time of their own: a node that did not know of the other entries has placed them. */
  private charge(turns: KeyTurns, start: number): void {
    const last = Math.max(turns.lastWaiting ?? never, turns.lastStarted);
    const isOwn = land(turns, start);
    if (start <= last) {
      if (!isOwn) turns.overlapping++;
    } else if (turns.overlapping > 0) {
      // A node that knew of them placed this entry, and left a gap for their time.
      turns.overlapping = Math.max(0, turns.overlapping - Math.round((start - last) / turns.ticks) + 1);
    }
  }

  advance(time: number): void {
    this.virtualTime = Math.max(this.virtualTime, time);
  }

  /** Takes over the state of the queue that this one replaces, as far as the entries do not show it. */
  adopt(old: FairQueue): void {
    this.advance(old.virtualTime);
    for (const [key, { lastStarted, overlapping, inFlight, ticks }] of old.byKey)
      Object.assign(this.turnsOf(key), { lastStarted, overlapping, inFlight, ticks });
  }

  private lastOf(turns: KeyTurns, key: number): number {
    if (turns.waiting > 0) turns.lastWaiting ??= this.entries.lastStartOf(key);
    return Math.max(turns.lastWaiting ?? never, turns.lastStarted);
  }

  private turnsOf(key: number): KeyTurns {
    let turns = this.byKey.get(key);
    if (turns === undefined) {
      if (this.byKey.size >= this.sweepAt) this.sweep();
      turns = {
        waiting: 0,
        lastWaiting: undefined,
        lastStarted: never,
        overlapping: 0,
        inFlight: [],
        ticks: ticksOfWeight1,
      };
      this.byKey.set(key, turns);
    }
    return turns;
  }

  /**
   * No request waits, so no key was treated unfairly: all keys are even. Virtual time stays: nodes that learn of a
   * start and of a submission in different orders do not all see this moment, and must not differ in it.
   */
  private endBusyPeriod(): void {
    for (const [key, turns] of this.byKey) if (turns.inFlight.length === 0) this.byKey.delete(key);
  }

  /** Drops keys without requests whose turn has come again: such a key is as good as new. */
  private sweep(): void {
    for (const [key, { waiting, inFlight, lastStarted, overlapping, ticks }] of this.byKey) {
      const isEven = lastStarted + (1 + overlapping) * ticks <= this.virtualTime;
      if (waiting === 0 && inFlight.length === 0 && isEven) this.byKey.delete(key);
    }
    this.sweepAt = Math.max(minSweep, 2 * this.byKey.size);
  }
}

/** Removes a virtual start from those in flight. Returns false if it was not among them. */
function land({ inFlight }: KeyTurns, start: number): boolean {
  const at = inFlight.indexOf(start);
  if (at >= 0) inFlight.splice(at, 1);
  return at >= 0;
}

import type { Order } from '../../models/model.js';
import { HeldEntries } from './held-entries.js';
import { OrderedSet, type Place } from './ordered-set.js';

/** Virtual time that a request of a key of weight 1 takes. */
export const ticksOfWeight1 = 1_000;

/** After so much virtual time comes a key's next turn; 0: its requests wait as they came. */
export function ticksFor(order: Order, weight: number): number {
  return order === 'arrival' ? 0 : Math.max(1, Math.round(ticksOfWeight1 / weight));
}

/** Whose turn it is, as a number: the random part of an API key's id. */
export function orderKeyOf(keyId: string): number {
  return Number.parseInt(keyId.slice(-12), 16);
}

/** What is known of the requests of one key. All are virtual starts. */
interface KeyTurns {
  waiting: number;
  /** Of the last that waits; undefined: to be looked up. */
  lastWaiting: number | undefined;
  lastStarted: number;
  /** So many have no virtual time of their own: several nodes placed them without knowing of each other. */
  beside: number;
  /** Of the last that is being written, how many are, and of which that is not known to be done. */
  lastReserved: number;
  reserved: number;
  inFlight: Set<number> | undefined;
  ticks: number;
}

/** One that waits, and the earlier virtual start that it could have. */
export interface Advance extends Place {
  from: number;
  key: number;
}

const never = -Infinity;
/** So many keys are kept before those that say nothing any more are dropped. */
const minSweep = 1_000;

/**
 * The waiting requests of one model and priority in their order, by start-time fair queuing (Goyal, Vin and Cheng,
 * 1996): a request's virtual start is the later of the virtual time, which is the virtual start of what was started
 * last, and the virtual end of its key's last request; its virtual end is that plus 1 ÷ weight.
 */
export class FairQueue {
  private readonly entries = new OrderedSet();
  /** Those of the entries that no claim may take yet. */
  readonly held = new HeldEntries();
  private readonly byKey = new Map<number, KeyTurns>();
  private virtualTime = 0;
  private sweepAt = minSweep;

  get size(): number {
    return this.entries.size;
  }

  /** Of how many keys something is known. */
  get known(): number {
    return this.byKey.size;
  }

  /** Of keys whose turns it knows. */
  *waitingByKey(): Iterable<[orderKey: number, waiting: number]> {
    for (const [key, { waiting }] of this.byKey) if (waiting > 0) yield [key, waiting];
  }

  get time(): number {
    return this.virtualTime;
  }

  /** The highest virtual start that waits. */
  get last(): number {
    return this.entries.last()?.start ?? this.virtualTime;
  }

  readonly first = (): Place | undefined => this.entries.first();
  /** What was submitted first. */
  readonly oldest = (): Place | undefined => this.entries.oldest();

  /** How many are before it; of what is held only for one that is held itself. */
  rank({ start, seq }: Place, withHeld = false): number {
    return this.entries.rank(start, seq) - (withHeld ? 0 : this.held.rank(start, seq));
  }

  claimable(withHeld = false): number {
    return this.entries.size - (withHeld ? 0 : this.held.size);
  }

  /** The virtual start of a submission, which is to be settled once it is written, or is not. 0 ticks: by arrival. */
  reserve(key: number, ticks: number): number {
    if (ticks === 0) return Math.max(this.virtualTime, this.entries.last()?.start ?? 0);
    const turns = this.turnsOf(key);
    turns.ticks = ticks;
    const next = this.lastOf(turns, key) + (1 + turns.beside) * ticks;
    const start = Math.max(this.virtualTime, next, turns.lastReserved + ticks);
    turns.beside = 0;
    turns.lastReserved = start;
    turns.reserved++;
    (turns.inFlight ??= new Set()).add(start);
    return start;
  }

  settle(key: number): void {
    const turns = this.byKey.get(key);
    if (turns === undefined || --turns.reserved > 0) return;
    turns.reserved = 0;
    turns.inFlight = undefined;
    turns.lastReserved = never;
  }

  /** `isNew`: just placed. What comes back has had its turn, and what is read again was counted. */
  add({ start, seq }: Place, key: number, isNew = true): void {
    if (!this.entries.add(start, seq, key) || key === 0) return;
    const turns = this.turnsOf(key);
    if (isNew) this.charge(turns, start);
    turns.waiting++;
    // Where it has to be looked up it is found then.
    if (turns.waiting === 1 || (turns.lastWaiting !== undefined && start > turns.lastWaiting))
      turns.lastWaiting = start;
  }

  /** What leaves without a start gives its key's time back; `advances` is for what waits behind it. */
  remove({ start, seq }: Place, isStarted: boolean): void {
    if (isStarted) this.advance(start);
    const turns = this.take(start, seq);
    if (turns === undefined) return;
    if (!isStarted && turns.beside > 0) turns.beside--;
    if (isStarted) turns.lastStarted = Math.max(turns.lastStarted, start);
    if (this.entries.size === 0) this.endBusyPeriod();
  }

  /** To another virtual start; added where it was not known. */
  move({ start, seq }: Place, from: number, key: number): void {
    this.add({ start, seq }, key, false);
    const held = this.held.remove(from, seq);
    if (held !== undefined) this.held.add(start, seq, held);
    this.take(from, seq);
  }

  /**
   * What of these keys waits further behind than if it came now, in the order in which it waits: because of turns that
   * were given back before it. What is being written keeps its place among its key's: nothing from behind passes it.
   * `ticks`: of each key. Not more than `max` in all.
   */
  advances(ticks: ReadonlyMap<number, number>, max: number): Advance[] {
    const moving = new Map(
      [...ticks].flatMap(([key, ticks]) => {
        const { waiting = 0, lastStarted = never, inFlight = [] } = this.byKey.get(key) ?? {};
        const first = Math.max(this.virtualTime, lastStarted + ticks);
        const end = Math.min(...inFlight);
        return waiting === 0 ? [] : [[key, { ticks, first, next: first, end, left: waiting }]];
      }),
    );
    const advances: Advance[] = [];
    if (moving.size === 0) return advances;
    this.entries.visit((from, seq, key) => {
      const turns = moving.get(key);
      if (turns === undefined) return undefined;
      if (from > turns.end) moving.delete(key);
      else if (from < turns.first) turns.next = Math.max(turns.next, from + turns.ticks);
      else {
        if (from > turns.next) advances.push({ seq, from, start: turns.next, key });
        turns.next += turns.ticks;
      }
      if (--turns.left === 0) moving.delete(key);
      return advances.length >= max || moving.size === 0 ? 'enough' : undefined;
    });
    return advances;
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

  /** A node that does not know what others placed gives it no time of its own. */
  private charge(turns: KeyTurns, start: number): void {
    const last = Math.max(turns.lastWaiting ?? never, turns.lastStarted);
    const isOwn = turns.inFlight?.delete(start) === true;
    if (start <= last) {
      if (!isOwn) turns.beside++;
    } else if (turns.beside > 0) {
      // It was placed by a node that knew of them, and left their time out.
      turns.beside = Math.max(0, turns.beside - Math.round((start - last) / turns.ticks) + 1);
    }
  }

  advance(time: number): void {
    this.virtualTime = Math.max(this.virtualTime, time);
  }

  /** What the entries alone do not say, from the queue that this one replaces. */
  adopt(old: FairQueue): void {
    this.advance(old.virtualTime);
    for (const [key, { lastStarted, beside, lastReserved, reserved, inFlight, ticks }] of old.byKey)
      Object.assign(this.turnsOf(key), { lastStarted, beside, lastReserved, reserved, inFlight, ticks });
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
        beside: 0,
        lastReserved: never,
        reserved: 0,
        inFlight: undefined,
        ticks: ticksOfWeight1,
      };
      this.byKey.set(key, turns);
    }
    return turns;
  }

  /**
   * Nobody waits, so nobody was treated unfairly: all keys are even. Virtual time stays: nodes that hear of a start and
   * of a submission in another order do not all see this moment, and are not to differ in it.
   */
  private endBusyPeriod(): void {
    for (const [key, turns] of this.byKey) if (turns.reserved === 0) this.byKey.delete(key);
  }

  /** A key without requests whose turn has come again is as new. */
  private sweep(): void {
    for (const [key, { waiting, reserved, lastStarted, beside, ticks }] of this.byKey) {
      const isEven = lastStarted + (1 + beside) * ticks <= this.virtualTime;
      if (waiting === 0 && reserved === 0 && isEven) this.byKey.delete(key);
    }
    this.sweepAt = Math.max(minSweep, 2 * this.byKey.size);
  }
}

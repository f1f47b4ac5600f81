import { parseRateLimits } from '../config/parsers.js';
import type { GoneHolder, HolderBeat } from './share-database.js';
import {
  type Admission,
  Budget,
  type BudgetKey,
  type Grant,
  type WaitingCall,
  idOf,
  keyOf,
  type LimitSubject,
  type ShareRow,
  unavailable,
  type WindowUse,
} from './budget.js';

/** A call waits this long for a share that other nodes may give back. */
const waitMs = 250;
/**
 * It also waits this long after the database answers that there is none. If the database is slow, so are the others.
 */
const waitAnsweredMs = 100;
/** Interval at which a budget with waiting calls is asked for again, because a message may be lost. */
const askEveryMs = 100;
/**
 * No call waits longer than this: while rounds are slow, nodes cannot distinguish silent holders, and `waitUntil` may
 * move on without end.
 */
const longestWaitMs = 10_000;
const retainedWhenAsked = 1 / 2; // of its unused share
/** Greatest age of the use that a row shows. */
export const writeAfterMs = 10_000;
/** In a round, at most this many budgets are checked for being idle, and at most this many found. */
const maxIdleChecks = 25_000;
const maxIdleFound = 1_000;

/**
 * The budgets of this node's callers. Decides in memory whether calls are admitted, and collects the requests and rows
 * for the database.
 */
export class ShareBook {
  private readonly budgets = new Map<string, Budget>();
  readonly wanting = new Set<Budget>(); // to be asked for
  readonly awaited = new Set<Budget>(); // calls wait for these
  /** Budgets used since their rows were written, and the time since when. */
  private readonly unwritten = new Map<Budget, number>();
  private readonly due = new Set<Budget>(); // to be written with the next round
  private idleScan: Iterator<Budget, undefined> = this.budgets.values();
  /** The number of budgets of addresses. */
  private addresses = 0;
  /**
   * Calls that find no share wait until then at least. Another holder may be a crashed process, such as this node's
   * predecessor, and nobody uses what it holds.
   */
  waitUntil = -Infinity;

  /**
   * `maxAddresses`: the most addresses with budgets of their own. New addresses beyond it share budgets by their
   * networks. This bounds memory and rows, and nobody is refused because others invented addresses. An address that has
   * a budget of its own on another node, or gets one later, may then be admitted up to twice its limit. `crowded` is
   * called for each call whose address shares a budget.
   */
  constructor(
    private readonly maxAddresses = 100_000,
    private readonly crowded: () => void = () => undefined,
  ) {}

  get isEmpty(): boolean {
    return this.budgets.size === 0;
  }

  budgetOf(caller: LimitSubject): Budget {
    const key = keyOf(caller);
    const known = this.budgets.get(idOf(key));
    if (known !== undefined) return known;
    if (!caller.hasKey && this.addresses >= this.maxAddresses) {
      this.crowded();
      return this.budgetOf({ ...caller, subject: crowdOf(caller.subject), hasKey: true });
    }
    const budget = new Budget(key, caller.limits);
    this.add(budget);
    return budget;
  }

  private add(budget: Budget): void {
    this.budgets.set(idOf(budget.key), budget);
    if (isAddress(budget)) this.addresses++;
  }

  private remove(budget: Budget): void {
    if (this.budgets.delete(idOf(budget.key)) && isAddress(budget)) this.addresses--;
  }

  use(caller: LimitSubject, now: number): WindowUse[] {
    const key = keyOf(caller);
    return (this.budgets.get(idOf(key)) ?? new Budget(key, caller.limits)).use(now);
  }

  /** Counts `count` calls if there is room for all of them. */
  admit(budget: Budget, now: number, count = 1): Admission | undefined {
    const admission = budget.admit(now, count);
    if (admission === undefined) return undefined;
    if (budget.unwritten > 0 && !this.unwritten.has(budget)) this.unwritten.set(budget, now);
    // After a crash, the other nodes count this much as used although no row shows it.
    if (budget.unwritten >= budget.windows[0]!.share) this.due.add(budget);
    return admission;
  }

  /** Returns false if the budget was asked for a moment ago. */
  ask(budget: Budget, now: number): boolean {
    if (budget.askedAt !== undefined && now - budget.askedAt < askEveryMs) return false;
    this.wanting.add(budget);
    return true;
  }

  /** Keeps the call waiting until the share grows, the use falls, or the call has waited long enough. */
  addWaiting(budget: Budget, call: WaitingCall, asks: boolean): void {
    budget.addWaiting(call);
    this.awaited.add(budget);
    if (asks) this.ask(budget, call.since);
  }

  /** Returns the budgets to ask for now and takes them off the list. */
  takeWanting(max: number, now: number): Budget[] {
    const taken: Budget[] = [];
    for (const budget of this.wanting) {
      if (taken.length >= max) break;
      if (budget.isBusy) continue;
      this.wanting.delete(budget);
      budget.askedAt = now;
      budget.isBusy = true;
      taken.push(budget);
    }
    return taken;
  }

  release(budgets: readonly Budget[]): void {
    for (const budget of budgets) budget.isBusy = false;
  }

  applyGrant(budget: Budget, { shares, unallocated, isShort }: Grant, now: number, mayServe: boolean): void {
    for (const call of budget.waiting) if (call.since <= budget.askedAt!) call.answeredAt ??= now;
    budget.windows.forEach((window, i) => {
      if (shares[i]! > window.share) budget.forgetRefusal();
      window.share = shares[i]!;
      window.unallocated = unallocated[i]!;
    });
    if (!mayServe) return;
    this.serveWaiting(budget, now);
    // Calls that came while it was asked for. If the grant was short, they wait for the next sweep.
    if (budget.waiting.length > 0 && !isShort) this.wanting.add(budget);
  }

  /**
   * Admits waiting calls in their order as far as the share goes, and refuses those that waited long enough. A call that
   * waited too long for other holders is neither: it may be within its limit.
   */
  serveWaiting(budget: Budget, now: number): void {
    let isRefused = false;
    for (let call = budget.waiting[0]; call !== undefined; call = budget.waiting[0]) {
      const { since, answeredAt = Infinity, count, isSome } = call;
      const admission = this.admit(budget, now, count);
      if (admission !== undefined) {
        budget.takeWaiting().settle(admission, count);
        continue;
      }
      const isExhausted = budget.isExhaustedFor(count);
      const waitUntil = Math.max(since + waitMs, answeredAt + waitAnsweredMs, this.waitUntil);
      if (!isExhausted && now < waitUntil) {
        if (now < since + longestWaitMs) break;
        budget.takeWaiting().reject(unavailable());
        continue;
      }
      const admitted = isSome === true ? this.admitSome(budget, now, count) : 0;
      const refused = count - admitted;
      const refusal = isRefused
        ? budget.refusal(now, refused)
        : budget.refuse(now, { inVain: !isExhausted, count: refused });
      isRefused = true;
      budget.takeWaiting().settle(refusal, admitted);
    }
    if (budget.waiting.length === 0) this.awaited.delete(budget);
  }

  /** Counts as many of `count` calls as there is room for, and returns how many. */
  admitSome(budget: Budget, now: number, count: number): number {
    const admitted = Math.min(count, budget.roomAt(now));
    if (admitted > 0) this.admit(budget, now, admitted);
    return admitted;
  }

  serveAllWaiting(now: number): void {
    for (const budget of this.awaited) {
      this.serveWaiting(budget, now);
      if (budget.waiting.length > 0) this.ask(budget, now);
    }
  }

  /** Rejects the calls that wait for these budgets, by default all, and came at `by` or before. */
  rejectWaiting(error: unknown, budgets: Iterable<Budget> = this.awaited, by = Infinity): void {
    for (const budget of budgets) {
      while (budget.waiting.length > 0 && budget.waiting[0]!.since <= by) budget.takeWaiting().reject(error);
      if (budget.waiting.length > 0) continue;
      this.awaited.delete(budget);
      this.wanting.delete(budget);
    }
  }

  /**
   * Gives back half of the unused share of budgets that another node is short of. Memory shrinks before publication.
   */
  giveBack(keys: readonly BudgetKey[], now: number): { budgets: Budget[]; rows: ShareRow[] } {
    const budgets: Budget[] = [];
    for (const key of keys) {
      const budget = this.budgets.get(idOf(key));
      if (budget === undefined || budget.isBusy || budget.waiting.length > 0) continue;
      if (budget.shrink(retainedWhenAsked, now)) budgets.push(budget);
      else this.putBackUnwritten([budget]); // its row may show more
    }
    return { budgets, rows: this.takeRows(budgets, now) };
  }

  /** Another node gave back something of these budgets. */
  noteGiven(keys: readonly BudgetKey[]): void {
    for (const key of keys) {
      const budget = this.budgets.get(idOf(key));
      budget?.forgetRefusal();
      if (budget !== undefined && budget.waiting.length > 0) this.wanting.add(budget);
    }
  }

  /** Returns the budgets whose rows are to be written now. */
  takeUnwritten(now: number): Budget[] {
    for (const [budget, since] of this.unwritten) {
      if (now - since < writeAfterMs) break;
      this.due.add(budget);
    }
    // A grant may already have written what they used.
    const budgets = [...this.due].filter((budget) => budget.unwritten > 0 || budget.isRowUncertain);
    for (const budget of this.due) this.unwritten.delete(budget);
    this.due.clear();
    return budgets;
  }

  /** Leaves out budgets with a grant under way, which writes as well, and forgotten ones. */
  takeWritable(budgets: readonly Budget[]): Budget[] {
    this.putBackUnwritten(budgets.filter(({ isBusy }) => isBusy));
    return budgets.filter((budget) => !budget.isBusy && this.isKnown(budget));
  }

  /** Returns their current rows, for a statement that has the budgets until `release`. */
  takeRows(budgets: readonly Budget[], now: number): ShareRow[] {
    return budgets.map((budget) => {
      budget.isBusy = true;
      budget.isRowUncertain = false;
      return budget.toRow(now);
    });
  }

  putBackUnwritten(budgets: Iterable<Budget>): void {
    for (const budget of budgets) {
      budget.isRowUncertain = true;
      if (this.isKnown(budget)) this.due.add(budget);
    }
  }

  private isKnown(budget: Budget): boolean {
    return this.budgets.get(idOf(budget.key)) === budget;
  }

  /**
   * Takes budgets that were not called for their longest window, of a part of all budgets at a time. They give up their
   * shares; their rows are to be deleted.
   */
  takeIdle(now: number): Budget[] {
    const idle: Budget[] = [];
    for (let checks = 0; checks < maxIdleChecks && idle.length < maxIdleFound; checks++) {
      const budget = this.idleScan.next().value;
      if (budget === undefined) {
        this.idleScan = this.budgets.values();
        break;
      }
      if (budget.isBusy || budget.waiting.length > 0 || now - budget.calledAt <= budget.longestMs) continue;
      for (const list of [this.unwritten, this.due, this.wanting]) list.delete(budget);
      budget.shrink(0, now);
      budget.isBusy = true;
      idle.push(budget);
    }
    return idle;
  }

  /** Forgets budgets whose rows were deleted. A budget with calls that came meanwhile stays, without a share. */
  forget(idle: readonly Budget[]): void {
    for (const budget of idle) {
      if (budget.waiting.length > 0 || !this.isKnown(budget)) continue;
      this.remove(budget);
      this.wanting.delete(budget);
    }
  }

  /** This node has rows of these budgets. Lost answers leave rows of unknown callers, which become idle budgets. */
  noteRows(keys: readonly BudgetKey[]): void {
    for (const key of keys.filter((one) => !this.budgets.has(idOf(one))))
      this.add(new Budget(key, parseRateLimits(key.policy)));
  }

  /** Returns every row as it stays when this node admits no more: its share is what was used within the window. */
  lastRows(now: number): ShareRow[] {
    const rows = [...this.budgets.values()].map((budget) => budget.toRow(now));
    return rows.map(({ key, used }) => ({ key, used, shares: used }));
  }

  /** Drops all shares. Waiting calls keep waiting, for the shares of the node's next holder. */
  dropShares(): void {
    const waiting = [...this.awaited].map((budget) => budget.withoutShare());
    const lists = [this.budgets, this.wanting, this.awaited, this.unwritten, this.due];
    for (const list of lists) list.clear();
    this.addresses = 0;
    for (const budget of waiting) {
      this.add(budget);
      for (const list of [this.awaited, this.wanting]) list.add(budget);
    }
  }
}

const addressPrefix = 'address:';
/** The number of names for networks that share a budget. */
const crowds = 16_384;

function isAddress({ key }: Budget): boolean {
  return key.subject.startsWith(addressPrefix);
}

/** Names an IPv4 address by its /16 and an IPv6 address by its /32. Networks with the same hash share a name. */
function crowdOf(subject: string): string {
  const [network] = /^[^.:]*[.:][^.:]*/.exec(subject.slice(addressPrefix.length)) ?? [''];
  let hash = 0x811c9dc5;
  for (let i = 0; i < network.length; i++) hash = Math.imul(hash ^ network.charCodeAt(i), 0x01000193);
  return `crowd:${(hash >>> 0) % crowds}`;
}

/** A holder whose last beat is this old admits no more: `fenceMs` in share-keeper.ts is as long. */
const silentAfterMs = 3_000;
/** A node that has not read the holders for this long cannot distinguish a silent holder from its own absence. */
const maxGapMs = 2_000;
/** Longer than the longest window that a limit can have. */
const finishedAfterMs = 3_600_000 + 60_000;
/** A silent holder is ended by the next round, of which there is one per second. This is twice as long. */
const endMs = 2_000;
/** The shortest window that a limit can have, and the time for one more grant. */
const spentMs = 1_250;

/** The other holders of shares, as this node knows them. Only its own clock measures how long they have been silent. */
export class OtherHolders {
  /** The last beat that this node read of each holder, and when it first read it. */
  private readonly live = new Map<string, { beat: number; since: number }>();
  /** The time since which each holder is known to admit no more. */
  private readonly left = new Map<string, number>();
  /** The holders that were there when this node registered and have not beaten since. */
  private unproven = new Set<string>();
  private lookedAt = -Infinity;

  /** Nodes that hold shares now, this one included. */
  get nodes(): number {
    return this.live.size + 1;
  }

  /**
   * The time by which each other holder has sent a beat, or is gone and its shares no longer count in the shortest
   * window.
   */
  get settledAt(): number {
    const ends = [...this.unproven].map((id) => {
      const live = this.live.get(id);
      return live === undefined
        ? (this.left.get(id) ?? 0) + spentMs
        : live.since + silentAfterMs + endMs + spentMs;
    });
    return Math.max(-Infinity, ...ends);
  }

  /** Takes the holders that existed when this node registered. */
  meet(holders: readonly HolderBeat[], now: number): void {
    this.see(holders, now);
    this.unproven = new Set(holders.map(({ id }) => id));
  }

  /** Takes all other holders that exist now. A holder whose row is gone had stopped before. */
  see(holders: readonly HolderBeat[], now: number): void {
    const looksAnew = now - this.lookedAt > maxGapMs;
    this.lookedAt = now;
    const ids = new Set(holders.map(({ id }) => id));
    for (const id of this.live.keys()) {
      if (ids.has(id)) continue;
      this.live.delete(id);
      this.left.set(id, now);
    }
    for (const { id, beat } of holders) {
      if (this.live.get(id)?.beat !== beat) this.unproven.delete(id);
      if (looksAnew || this.live.get(id)?.beat !== beat) this.live.set(id, { beat, since: now });
    }
  }

  /** Notes holders that are known to be gone by other means. */
  noteGone(ids: readonly string[], now: number): void {
    for (const id of ids) if (!this.left.has(id)) this.left.set(id, now);
  }

  silent(now: number): HolderBeat[] {
    return [...this.live]
      .filter(([, { since }]) => now - since >= silentAfterMs)
      .map(([id, { beat }]) => ({ id, beat }));
  }

  gone(now: number): GoneHolder[] {
    return [...this.left].map(([id, since]) => ({ id, forMs: now - since }));
  }

  /** Returns the holders whose shares count for nothing in any window. */
  finished(now: number): string[] {
    return [...this.left].filter(([, since]) => now - since > finishedAfterMs).map(([id]) => id);
  }

  /** Called once the rows of these holders are deleted. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.left.delete(id);
  }
}

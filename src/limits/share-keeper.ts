import { v7 } from 'uuid';
import { Coalesced } from '../tools/coalesced.js';
import { OtherHolders, ShareBook, writeAfterMs } from './share-book.js';
import type { ShareStore, WriteRequest, WriteResult } from './share-database.js';
import {
  type Admission,
  type Budget,
  type BudgetKey,
  type WaitingCall,
  idOf,
  keyOf,
  type LimitSubject,
  unavailable,
  type WindowState,
} from './budget.js';

/** `asked`: the node is short of some budgets. `gave`: it gave back a part of its shares of them. */
export type Hint = 'asked' | 'gave';

/** The process around a keeper; a simulation has its own. */
export interface KeeperHost {
  /** The monotonic clock, in milliseconds. */
  now(): number;
  /** Returns a function that cancels the timer. */
  after(ms: number, work: () => void): () => void;
  /** Sends the other nodes a hint, which may be lost. */
  hint(kind: Hint, keys: readonly BudgetKey[]): void;
  failed?(error: unknown): void;
  /** Too many addresses call, so a new one shares a budget with its network. */
  crowded?(): void;
  /** A round of writes is done. */
  worked?(): void;
}

/** The result of many calls. */
export interface SomeAdmitted {
  /** The number of calls that were admitted, which are the first ones. */
  admitted: number;
  /** The admission of the last admitted call, or the refusal of the others. */
  admission: Admission;
}

/** A round of writes: the budgets whose rows were due when it began. */
interface Round {
  beganAt: number;
  budgets: readonly Budget[];
  written: number;
}

/** A node admits only for this long after it began the last round of writes that the database took. */
const fenceMs = 3_000;
const writeEveryMs = 1_000;
const retryMs = 300;
/**
 * A call waits at most this long for late writes, or for this node to be registered again. The grant that it then needs
 * may take another 9 s.
 */
const lateMs = 2_000;
const sweepMs = 20;
const collectAheadMs = 100; // shares asked for before they are needed are collected for this long
/** A node that held nothing for this long sends no beat until the next call. */
const sleepAfterMs = 20_000;
/** Rows in one write: few enough that a caller that waits for a grant does not wait long for the write. */
const maxRows = 500;
/** Budgets in one grant, and grants at once. Their commits share the wait for the disk. */
const maxBudgets = 200;
const maxGrants = 3;
/**
 * If fewer budgets than this want shares, they wait for the grant that was sent last, because they are not worth a
 * commit of their own.
 */
const minBehind = 8;
/** They wait no longer than this for that grant. */
const slowMs = 100;

/**
 * Keeps this node's shares in step with the database. One loop registers the node as a holder, gives shares back and
 * writes the use some seconds later. Grants run at the same time as the loop. No two statements have the same budget at
 * once. Writes run one after the other, and the database runs none that is older than the last one that it ran. A row
 * therefore never shows less than the node holds in memory.
 */
export class ShareKeeper {
  private readonly book: ShareBook;
  private readonly others = new OtherHolders();
  private readonly loop = new Coalesced(() => this.workOff());
  private holder = '';
  private beat = 0;
  private aliveAt = -Infinity;
  private isRegistered = false;
  private isAsleep = false; // not registered, because it holds nothing; the next call waits until it is
  private busyAt = -Infinity;
  /** A write was lost and may still run. Nothing is granted until a newer one has run. */
  private isUncertain = false;
  private isPruning = false;
  /** A round begins after the one under way, if there is one. */
  private isRoundDue = false;
  private round: Round | undefined;
  /** Budgets of which other nodes want a part. */
  private readonly asked = new Map<string, BudgetKey>();
  private gaveBackLast = false;
  private readonly grants = new Set<Promise<void>>();
  private grantsDueAt = Infinity;
  private grantSentAt = -Infinity;
  private cancelTick: (() => void) | undefined;
  private cancelSweep: (() => void) | undefined;
  private isStopped = false;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly store: ShareStore,
    private readonly host: KeeperHost,
  ) {
    this.book = new ShareBook(undefined, () => host.crowded?.());
  }

  async start(): Promise<void> {
    await this.register();
    this.tickIn(writeEveryMs);
  }

  /** Gives back all but what was used. It runs only once, because it forgets what was used. */
  stop(): Promise<void> {
    return (this.stopping ??= this.leave());
  }

  private async leave(): Promise<void> {
    this.isStopped = true;
    for (const cancel of [this.cancelTick, this.cancelSweep]) cancel?.();
    await Promise.allSettled([this.loop.ended, ...this.grants]);
    this.aliveAt = -Infinity;
    const rows = this.book.lastRows(this.host.now());
    this.book.rejectWaiting(unavailable());
    this.book.dropShares();
    if (this.isRegistered) await this.store.leave(this.holder, rows);
  }

  /**
   * Counts all `count` calls under all windows of their limit, or none. Synchronous unless the call must wait, for a
   * share or a late write.
   */
  admit(subject: LimitSubject, count = 1): Admission | Promise<Admission> {
    const now = this.host.now();
    const isLate = this.isLate(now);
    const budget = this.book.budgetOf(subject);
    const decided =
      budget.standingRefusal(now, count) ?? (isLate ? undefined : this.decide(budget, now, count));
    if (decided !== undefined) return decided;
    if (isLate && budget.waitingCount + count > budget.maxWaiting) throw unavailable();
    return new Promise((settle, reject) => this.wait(budget, { since: now, count, settle, reject }, isLate));
  }

  /** Returns the refusal of this many calls, and counts none. */
  refusal(subject: LimitSubject, count: number): Admission {
    return this.book.budgetOf(subject).refusal(this.host.now(), count);
  }

  /** Counts as many of `count` calls as there is room for, all at the same time: in one step and by one grant. */
  admitSome(subject: LimitSubject, count: number): SomeAdmitted | Promise<SomeAdmitted> {
    const now = this.host.now();
    const isLate = this.isLate(now);
    const budget = this.book.budgetOf(subject);
    const standing = budget.standingRefusal(now);
    if (standing !== undefined) return { admitted: 0, admission: standing };
    // Even the whole limit could not admit more.
    const most = Math.min(count, budget.maxWaiting - budget.waitingCount);
    const ended = (admission: Admission, admitted: number): SomeAdmitted => {
      const isPartlyAdmitted = admitted < count && admission.admitted;
      if (!isPartlyAdmitted) return { admitted, admission };
      return { admitted, admission: budget.refuse(this.host.now(), { count: count - admitted }) };
    };
    const decided = isLate || most <= 0 ? undefined : this.decide(budget, now, most);
    if (decided?.admitted === true) return ended(decided, most);
    if (decided !== undefined) {
      const admitted = budget.waiting.length > 0 ? 0 : this.book.admitSome(budget, now, most);
      return {
        admitted,
        admission: admitted > 0 ? budget.refuse(now, { count: count - admitted }) : decided,
      };
    }
    if (isLate && most <= 0) throw unavailable();
    if (most <= 0) return { admitted: 0, admission: budget.refuse(now) };
    return new Promise((resolve, reject) => {
      const settle = (last: Admission, admitted: number): void => resolve(ended(last, admitted));
      this.wait(budget, { since: now, count: most, isSome: true, settle, reject }, isLate);
    });
  }

  /**
   * Returns a function that computes what is left of a limit of these subjects over all nodes. It subtracts what this
   * node counted and what the other nodes last wrote. Windows that are shorter than the possible age
   * of a row, or than the time since its holder left, ignore the row: its use may have left them. No call is counted.
   */
  async quotasOf(subjects: readonly string[]): Promise<(subject: LimitSubject) => WindowState[]> {
    const rows = await this.store.useOfOthers(this.holder, subjects);
    const goneMs = new Map(this.others.gone(this.host.now()).map(({ id, forMs }) => [id, forMs]));
    return (subject) => {
      const id = idOf(keyOf(subject));
      const others = rows.filter((row) => idOf(row) === id);
      return this.book.use(subject, this.host.now()).map(({ window, used, resetMs }, i) => {
        const counting = others.filter(
          ({ holderId }) => window.windowMs >= Math.max(writeAfterMs, goneMs.get(holderId) ?? 0),
        );
        const usedByOthers = counting.reduce((all, row) => all + row.used[i]!, 0);
        return {
          window,
          remaining: Math.max(0, window.limit - used - usedByOthers),
          resetMs: used === 0 && usedByOthers > 0 ? window.windowMs : resetMs,
        };
      });
    };
  }

  /** Other nodes want a part of these budgets. A node that is not registered holds no part of any. */
  onAsked(keys: readonly BudgetKey[]): void {
    if (!this.isRegistered) return;
    for (const key of keys) this.asked.set(idOf(key), key);
    this.runSoon();
  }

  onGiven(keys: readonly BudgetKey[]): void {
    this.book.noteGiven(keys);
    this.runSoon();
  }

  /**
   * Returns whether calls wait for a late round, because this process or the database was slow. Throws if they may not
   * wait.
   */
  private isLate(now: number): boolean {
    const isLate = !this.mayAdmit(now);
    if (isLate && !this.mayWait) throw unavailable();
    return isLate;
  }

  private wait(budget: Budget, call: WaitingCall, isLate: boolean): void {
    if (isLate && !this.loop.isRunning) this.isRoundDue = true;
    this.book.addWaiting(budget, call, !isLate);
    this.sweepSoon();
    this.runSoon();
  }

  /** undefined: the call must wait. */
  private decide(budget: Budget, now: number, count: number): Admission | undefined {
    const admission = budget.waiting.length === 0 ? this.book.admit(budget, now, count) : undefined;
    if (admission !== undefined) {
      if (budget.runsLow && this.book.ask(budget, now)) this.askIn(collectAheadMs);
      return admission;
    }
    const isFull =
      budget.isExhaustedFor(count) || !budget.mayAsk(now) || budget.waitingCount + count > budget.maxWaiting;
    return isFull ? budget.refuse(now, { count }) : undefined;
  }

  /** A node that is asleep has no shares, so it cannot admit too much. */
  private mayAdmit(now: number): boolean {
    return now - this.aliveAt < fenceMs || (this.isAsleep && !this.isStopped);
  }

  private get mayWait(): boolean {
    // Unless a write was lost, the next write decides soon whether calls are admitted.
    return !this.isUncertain && !this.isStopped;
  }

  private get isKnown(): boolean {
    return this.isRegistered && this.mayWait;
  }

  private get mayUseGrants(): boolean {
    return this.isKnown && this.mayAdmit(this.host.now());
  }

  private tickIn(ms: number): void {
    if (this.isStopped) return;
    this.cancelTick?.();
    this.cancelTick = this.host.after(ms, () => {
      this.isRoundDue = true;
      this.runSoon();
      this.tickIn(writeEveryMs);
    });
  }

  private sweepSoon(): void {
    this.cancelSweep ??= this.host.after(sweepMs, () => {
      this.cancelSweep = undefined;
      const now = this.host.now();
      if (this.mayAdmit(now)) this.book.serveAllWaiting(now);
      else this.book.rejectWaiting(unavailable(), undefined, this.mayWait ? now - lateMs : now);
      if (this.book.wanting.size > 0) this.runSoon();
      if (this.book.awaited.size > 0 && !this.isStopped) this.sweepSoon();
    });
  }

  private runSoon(): void {
    if (this.isStopped) return;
    if (this.hasWork) void this.loop.run();
    if (this.book.awaited.size > 0 && this.book.wanting.size > 0) this.askIn(0);
  }

  private get hasWork(): boolean {
    if (this.isStopped) return false;
    if (!this.isRegistered) return !this.isAsleep || this.book.awaited.size > 0;
    return this.isWriteDue || this.asked.size > 0;
  }

  private get isWriteDue(): boolean {
    return this.isRoundDue || this.round !== undefined;
  }

  private async workOff(): Promise<void> {
    while (this.hasWork) {
      try {
        if (!this.isRegistered) await this.register();
        else if (this.takeTurnToGiveBack()) await this.giveBack();
        else if (this.isIdle) await this.sleep();
        else await this.writeUse();
      } catch (error) {
        this.host.failed?.(error);
        this.isUncertain = true;
        this.book.rejectWaiting(error);
        this.abandonRound();
        this.asked.clear();
        this.tickIn(retryMs);
        return;
      }
      if (this.book.awaited.size > 0) this.ask();
    }
  }

  private async register(): Promise<void> {
    const holder = v7();
    const sentAt = this.host.now();
    const { holders, gone } = await this.store.register(holder);
    this.holder = holder;
    this.beat = 0;
    this.isRegistered = true;
    this.isAsleep = false;
    // A node that registered at the same moment is seen by the next round.
    this.isRoundDue = true;
    this.aliveAt = this.busyAt = sentAt;
    this.others.meet(holders, this.host.now());
    this.others.noteGone(gone, this.host.now());
    this.book.waitUntil = this.others.settledAt;
  }

  private get isIdle(): boolean {
    const now = this.host.now();
    if (!this.book.isEmpty) this.busyAt = now;
    return now - this.busyAt >= sleepAfterMs;
  }

  private async sleep(): Promise<void> {
    this.isAsleep = true;
    this.isRegistered = false;
    this.abandonRound();
    this.book.dropShares();
    await this.store.leave(this.holder, []);
  }

  /** Alternates with other writes that are due, because nodes may ask without end. */
  private takeTurnToGiveBack(): boolean {
    this.gaveBackLast = this.asked.size > 0 && !(this.gaveBackLast && this.isWriteDue);
    return this.gaveBackLast;
  }

  private async giveBack(): Promise<void> {
    const keys = [...this.asked.values()];
    this.asked.clear();
    const { budgets, rows } = this.book.giveBack(keys, this.host.now());
    if (rows.length === 0) return;
    const written = await this.write(budgets, [], { rows, forgotten: [], silent: [] });
    if (written === undefined) return;
    const given = new Set(keys.map(idOf));
    this.onAsked(written.asked.filter((key) => !given.has(idOf(key))));
    this.host.hint(
      'gave',
      rows.map(({ key }) => key),
    );
  }

  /** Writes some rows of a round. The last statement of a round names the silent holders. */
  private async writeUse(): Promise<void> {
    const now = this.host.now();
    const idle = this.round === undefined ? this.book.takeIdle(now) : [];
    const round = (this.round ??= this.beginRound(now));
    const end = round.written + maxRows;
    const isLast = end >= round.budgets.length;
    const budgets = this.book.takeWritable(round.budgets.slice(round.written, end));
    const rows = this.book.takeRows(budgets, now);
    const forgotten = idle.map(({ key }) => key);
    const silent = isLast ? this.others.silent(now) : [];
    const written = await this.write(budgets, idle, { rows, forgotten, silent });
    if (written === undefined) return;
    round.written = end;
    this.onAsked(written.asked);
    if (!isLast) return;
    this.round = undefined;
    this.others.see(written.holders, this.host.now());
    this.book.waitUntil = this.others.settledAt;
    this.aliveAt = round.beganAt;
    this.host.worked?.();
    this.pruneSoon();
  }

  /** Not awaited: no call may wait for it. If it fails, a later round repeats it. */
  private pruneSoon(): void {
    if (this.isPruning) return;
    const finished = this.others.finished(this.host.now());
    if (finished.length === 0) return;
    this.isPruning = true;
    void this.store
      .prune(finished)
      .then(() => this.others.forget(finished))
      .catch((error: unknown) => this.host.failed?.(error))
      .finally(() => (this.isPruning = false));
  }

  private beginRound(now: number): Round {
    this.isRoundDue = false;
    return { beganAt: now, budgets: this.book.takeUnwritten(now), written: 0 };
  }

  /** Ends the round. What it has not written stays due. */
  private abandonRound(): void {
    if (this.round !== undefined) this.book.putBackUnwritten(this.round.budgets.slice(this.round.written));
    this.round = undefined;
    this.isRoundDue = false;
  }

  /** `idle`: budgets whose rows are deleted. undefined: the other nodes gave this holder up. */
  private async write(
    budgets: readonly Budget[],
    idle: readonly Budget[],
    request: WriteRequest,
  ): Promise<WriteResult | undefined> {
    let written: WriteResult;
    try {
      written = await this.store.write({ id: this.holder, beat: ++this.beat }, request);
      if (written.isKnown) {
        this.book.noteRows(written.asked);
        this.book.forget(idle);
      }
    } catch (error) {
      this.book.putBackUnwritten(budgets);
      throw error;
    } finally {
      this.book.release([...budgets, ...idle]);
    }
    this.isUncertain = false;
    if (written.isKnown) return written;
    this.lose();
    return undefined;
  }

  /** The other nodes gave this holder up. What it held is theirs after a window's time, and this node starts over. */
  private lose(): void {
    this.aliveAt = -Infinity;
    this.isRegistered = false;
    this.abandonRound();
    this.isRoundDue = true;
    this.book.dropShares();
  }

  private askIn(ms: number): void {
    if (this.grantsDueAt <= this.host.now() + ms) return;
    this.grantsDueAt = this.host.now() + ms;
    this.host.after(ms, () => {
      this.grantsDueAt = Infinity;
      this.ask();
    });
  }

  /** Asks for the shares that the book wants. */
  private ask(): void {
    while (this.mayUseGrants && this.grants.size < maxGrants) {
      const now = this.host.now();
      const isBehind = this.grants.size > 0 && now - this.grantSentAt < slowMs;
      if (isBehind && this.book.wanting.size < minBehind) return;
      const budgets = this.book.takeWanting(maxBudgets, now);
      if (budgets.length === 0) return;
      this.grantSentAt = now;
      const grant = this.askFor(budgets, now).finally(() => {
        this.grants.delete(grant);
        this.runSoon();
      });
      this.grants.add(grant);
    }
  }

  private async askFor(budgets: readonly Budget[], sentAt: number): Promise<void> {
    const { holder } = this;
    const requests = budgets.map((budget) => budget.toRequest(this.others.nodes, sentAt));
    try {
      const { isKnown, grants, strays } = await this.store.grant(holder, requests, this.others.gone(sentAt));
      this.book.release(budgets);
      if (!this.isKnown || this.holder !== holder) throw unavailable();
      if (!isKnown) return this.lose();
      const mayServe = this.mayUseGrants;
      const now = this.host.now();
      this.others.noteGone(strays, now);
      budgets.forEach((budget, i) => this.book.applyGrant(budget, grants[i]!, now, mayServe));
      const short = budgets.filter((_, i) => grants[i]!.isShort);
      // Their rows may count more than the node holds. Writing them again may free enough.
      this.book.putBackUnwritten(short);
      if (short.length > 0 && this.others.nodes > 1)
        this.host.hint(
          'asked',
          short.map(({ key }) => key),
        );
    } catch (error) {
      this.host.failed?.(error);
      this.book.release(budgets);
      this.book.rejectWaiting(error, budgets);
      // If the shares were granted all the same, the next write gives them back.
      this.book.putBackUnwritten(budgets);
    }
  }
}

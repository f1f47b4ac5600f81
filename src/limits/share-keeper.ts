import { Coalesced } from '../tools/coalesced.js';
import { type Admission, unavailable, type WindowUse } from './admission.js';
import type { Budget, HeldCall, LimitSubject } from './budget.js';
import { GiveBack } from './give-back.js';
import { GrantAsker } from './grant-asker.js';
import { HolderWatch } from './holder-watch.js';
import { ShareBook } from './share-book.js';
import { UseWriter } from './use-writer.js';
import type { BudgetKey, HolderBeat, KeeperListener, ShareStore, Timing } from './share-store.js';

/** The result of many calls. */
export interface SomeAdmitted {
  /** The number of calls that were admitted, which are the first ones. */
  admitted: number;
  /** The admission of the last admitted call, or the refusal of the others. */
  admission: Admission;
}

/** A node admits only for this long after it began the last round of writes that the database took. */
const fenceMs = 3_000;
const [writeEveryMs, retryMs] = [1_000, 300];
/**
 * A call waits this long for writes that are late, or until this node is known again. What it then asks the database
 * for may take 9 s more.
 */
const lateMs = 2_000;
const sweepMs = 20;
const collectAheadMs = 100; // shares asked for before they are needed are collected for this long
/** A node that held nothing for this long sends no beat until the next call. */
const sleepAfterMs = 20_000;

/**
 * Keeps this node's shares in step with the database: it asks for grants, writes use behind and gives shares back. No
 * two statements have the same budget at once. Writes go one after the other, and the database runs none that is older
 * than the last it ran. A row therefore never shows less than the node holds in memory.
 */
export class ShareKeeper {
  private readonly book: ShareBook;
  readonly watch = new HolderWatch();
  holder = '';
  private beat = 0;
  private readonly nextBeat = (): HolderBeat => ({ id: this.holder, beat: ++this.beat });
  private aliveAt = -Infinity;
  private isRegistered = false;
  private isAsleep = false; // not registered, because it holds nothing; the next call waits until it is
  private busyAt = -Infinity;
  private readonly writer: UseWriter;
  private readonly grants: GrantAsker;
  /** A write was lost and may still run. Nothing is granted until a newer one has run. */
  private isUncertain = false;
  private readonly returns: GiveBack;
  private readonly rounds = new Coalesced(() => this.workOff());
  private cancelTick: (() => void) | undefined;
  private cancelSweep: (() => void) | undefined;
  private isStopped = false;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly store: ShareStore,
    readonly timing: Timing,
    private readonly newHolderId: () => string,
    private readonly listener: KeeperListener,
  ) {
    this.book = new ShareBook(undefined, () => listener.crowded?.());
    this.writer = new UseWriter(store, this.book, this.watch, () => timing.now());
    this.returns = new GiveBack(store, this.book, listener, () => timing.now());
    this.grants = new GrantAsker(store, this.book, this.watch, listener, timing, {
      holder: () => (this.isKnown && this.mayAdmit(timing.now()) ? this.holder : undefined),
      isHolder: (id) => this.isKnown && this.holder === id,
      lose: () => this.lose(),
      ended: () => this.runSoon(),
    });
  }

  async start(): Promise<void> {
    await this.register();
    this.tickIn(writeEveryMs);
  }

  /** Gives back all but what was used. It runs only once, because a second run would know nothing of the use. */
  stop(): Promise<void> {
    return (this.stopping ??= this.leave());
  }

  private async leave(): Promise<void> {
    this.isStopped = true;
    for (const cancel of [this.cancelTick, this.cancelSweep]) cancel?.();
    await Promise.allSettled([this.rounds.ended, this.grants.settled()]);
    this.aliveAt = -Infinity;
    const rows = this.book.lastRows(this.timing.now());
    this.book.rejectHeld(unavailable());
    this.book.beginAnew();
    if (this.isRegistered) await this.store.leave(this.holder, rows);
  }

  /**
   * Counts all `count` calls under all windows of their limit, or none. Synchronous unless a share is asked for first.
   */
  admit(subject: LimitSubject, count = 1): Admission | Promise<Admission> {
    const now = this.timing.now();
    const isLate = this.isLate(now);
    const budget = this.book.budgetOf(subject);
    const decided =
      budget.standingRefusal(now, count) ?? (isLate ? undefined : this.decide(budget, now, count));
    if (decided !== undefined) return decided;
    if (isLate && budget.heldCount + count > budget.maxHeld) throw unavailable();
    return new Promise((admit, reject) => this.hold(budget, { since: now, count, admit, reject }, isLate));
  }

  /** Counts as many of `count` calls as there is room for, all at the same time: in one step and by one grant. */
  admitSome(subject: LimitSubject, count: number): SomeAdmitted | Promise<SomeAdmitted> {
    const now = this.timing.now();
    const isLate = this.isLate(now);
    const budget = this.book.budgetOf(subject);
    const standing = budget.standingRefusal(now);
    if (standing !== undefined) return { admitted: 0, admission: standing };
    // Even the whole limit could not admit more.
    const most = Math.min(count, budget.maxHeld - budget.heldCount);
    const ended = (admission: Admission, admitted: number): SomeAdmitted => {
      const isRefused = admitted < count && admission.admitted;
      if (!isRefused) return { admitted, admission };
      return { admitted, admission: budget.refuse(this.timing.now(), { count: count - admitted }) };
    };
    const decided = isLate || most <= 0 ? undefined : this.decide(budget, now, most);
    if (decided?.admitted === true) return ended(decided, most);
    if (decided !== undefined) {
      const admitted = budget.held.length > 0 ? 0 : this.book.admitSome(budget, now, most);
      return {
        admitted,
        admission: admitted > 0 ? budget.refuse(now, { count: count - admitted }) : decided,
      };
    }
    if (isLate && most <= 0) throw unavailable();
    if (most <= 0) return { admitted: 0, admission: budget.refuse(now) };
    return new Promise((resolve, reject) => {
      const admit = (last: Admission, admitted: number): void => resolve(ended(last, admitted));
      this.hold(budget, { since: now, count: most, isSome: true, admit, reject }, isLate);
    });
  }

  /**
   * Whether calls wait for a late round, because this process or the database was slow. Throws if they may not wait.
   */
  private isLate(now: number): boolean {
    const isLate = !this.mayAdmit(now);
    if (isLate && !this.mayWait) throw unavailable();
    return isLate;
  }

  private hold(budget: Budget, call: HeldCall, isLate: boolean): void {
    if (isLate && !this.rounds.isRunning) this.writer.begin();
    this.book.hold(budget, call, !isLate);
    this.sweepSoon();
    this.runSoon();
  }

  use(subject: LimitSubject): WindowUse[] {
    return this.book.use(subject, this.timing.now());
  }

  onAsked(keys: readonly BudgetKey[]): void {
    this.returns.ask(keys);
    this.runSoon();
  }

  onGiven(keys: readonly BudgetKey[]): void {
    this.book.noteGiven(keys);
    this.runSoon();
  }

  /** undefined: the call must wait. */
  private decide(budget: Budget, now: number, count: number): Admission | undefined {
    const admission = budget.held.length === 0 ? this.book.admit(budget, now, count) : undefined;
    if (admission !== undefined) {
      this.askAhead(budget, now);
      return admission;
    }
    const isFull =
      budget.isExhaustedFor(count) || !budget.mayAsk(now) || budget.heldCount + count > budget.maxHeld;
    return isFull ? budget.refuse(now, { count }) : undefined;
  }

  private askAhead(budget: Budget, now: number): void {
    if (budget.runsLow && this.book.ask(budget, now)) this.grants.askIn(collectAheadMs);
  }

  private mayAdmit(now: number): boolean {
    return now - this.aliveAt < fenceMs || (this.isAsleep && !this.isStopped);
  }

  private get mayWait(): boolean {
    // If no write was lost, it will be known soon whether a call may be admitted.
    return !this.isUncertain && !this.isStopped;
  }

  private get isKnown(): boolean {
    return this.isRegistered && this.mayWait;
  }

  private tickIn(ms: number): void {
    if (this.isStopped) return;
    this.cancelTick?.();
    this.cancelTick = this.timing.after(ms, () => {
      this.writer.begin();
      this.runSoon();
      this.tickIn(writeEveryMs);
    });
  }

  private sweepSoon(): void {
    this.cancelSweep ??= this.timing.after(sweepMs, () => {
      this.cancelSweep = undefined;
      const now = this.timing.now();
      if (this.mayAdmit(now)) this.book.serveAllHeld(now);
      else this.book.rejectHeld(unavailable(), undefined, this.mayWait ? now - lateMs : now);
      if (this.book.wanting.size > 0) this.runSoon();
      if (this.book.holding.size > 0 && !this.isStopped) this.sweepSoon();
    });
  }

  private runSoon(): void {
    if (this.isStopped) return;
    if (this.hasWork) void this.rounds.run();
    if (this.book.holding.size > 0 && this.book.wanting.size > 0) this.grants.askIn(0);
  }

  private get hasWork(): boolean {
    if (this.isStopped) return false;
    if (!this.isRegistered) return !this.isAsleep || this.book.holding.size > 0;
    return this.writer.hasWork || this.returns.hasWork;
  }

  private async workOff(): Promise<void> {
    while (this.hasWork) {
      try {
        if (!this.isRegistered) await this.register();
        else if (this.returns.takeTurn(this.writer.hasWork)) await this.giveBack();
        else if (this.isIdle) await this.sleep();
        else await this.writeUse();
      } catch (error) {
        this.listener.failed?.(error);
        this.isUncertain = true;
        this.book.rejectHeld(error);
        this.writer.abandon();
        this.returns.abandon();
        this.tickIn(retryMs);
        return;
      }
      if (this.book.holding.size > 0) this.grants.ask();
    }
  }

  private async register(): Promise<void> {
    const holder = this.newHolderId();
    const sentAt = this.timing.now();
    const { holders, gone } = await this.store.register(holder);
    this.holder = holder;
    this.beat = 0;
    this.isRegistered = true;
    this.isAsleep = false;
    this.aliveAt = this.busyAt = sentAt;
    this.watch.see(holders, this.timing.now());
    this.watch.noteGone(gone, this.timing.now());
  }

  private get isIdle(): boolean {
    const now = this.timing.now();
    if (!this.book.isEmpty) this.busyAt = now;
    return now - this.busyAt >= sleepAfterMs;
  }

  private async sleep(): Promise<void> {
    this.isAsleep = true;
    this.isRegistered = false;
    this.writer.abandon();
    this.book.beginAnew(); // it has at most a default share
    await this.store.leave(this.holder, []);
  }

  private async giveBack(): Promise<void> {
    const written = await this.returns.write(this.nextBeat);
    if (written === undefined) return;
    this.isUncertain = false;
    if (!written.isKnown) this.lose();
  }

  private async writeUse(): Promise<void> {
    const { isKnown, completedFrom, asked } = await this.writer.writeSome(this.nextBeat());
    this.isUncertain = false;
    if (!isKnown) return this.lose();
    this.onAsked(asked);
    if (completedFrom === undefined) return;
    this.aliveAt = completedFrom;
    this.listener.worked?.();
    await this.writer.acquireDefault(this.holder);
  }

  /** The other nodes gave this holder up. What it held is theirs after a window's time, and this node starts over. */
  private lose(): void {
    this.aliveAt = -Infinity;
    this.isRegistered = false;
    this.writer.abandon();
    this.writer.begin();
    this.book.beginAnew();
  }
}

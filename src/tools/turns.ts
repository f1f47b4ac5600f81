/** Waiting items of callers that take turns. The next item is of the caller whose work took the least time so far. */
export class Turns<Item> {
  size = 0;
  private readonly waiting = new Map<string, { items: Item[]; usedMs: number }>();
  /** Time used by callers without waiting items, while it is above the time at which a new caller begins. */
  private readonly used = new Map<string, number>();
  private nowMs = 0;

  sizeOf(caller: string): number {
    return this.waiting.get(caller)?.items.length ?? 0;
  }

  add(caller: string, item: Item): void {
    const known = this.waiting.get(caller);
    this.size++;
    if (known !== undefined) {
      known.items.push(item);
      return;
    }
    // A caller cannot save up turns by being idle.
    const usedMs = Math.max(this.used.get(caller) ?? 0, this.nowMs);
    this.used.delete(caller);
    this.waiting.set(caller, { items: [item], usedMs });
  }

  /** Removes and returns the next item. undefined: nothing waits, except for callers that `isPassed` excludes. */
  next(isPassed: (caller: string) => boolean): { caller: string; item: Item } | undefined {
    let least: string | undefined;
    for (const [caller, { usedMs }] of this.waiting)
      if (!isPassed(caller) && (least === undefined || usedMs < this.waiting.get(least)!.usedMs))
        least = caller;
    if (least === undefined) return undefined;
    const { items, usedMs } = this.waiting.get(least)!;
    this.nowMs = Math.max(this.nowMs, usedMs);
    const item = items.shift()!;
    this.size--;
    if (items.length === 0) {
      this.waiting.delete(least);
      this.used.set(least, usedMs);
    }
    return { caller: least, item };
  }

  /** Adds the time that a caller's work took. */
  charge(caller: string, ms: number): void {
    const waiting = this.waiting.get(caller);
    if (waiting !== undefined) waiting.usedMs += ms;
    else this.used.set(caller, (this.used.get(caller) ?? this.nowMs) + ms);
    for (const [other, usedMs] of this.used) if (usedMs <= this.nowMs) this.used.delete(other);
  }

  /** Removes and returns all items, in no order. */
  clear(): Item[] {
    const items = [...this.waiting.values()].flatMap((one) => one.items);
    this.waiting.clear();
    this.size = 0;
    return items;
  }
}

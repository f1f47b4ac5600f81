/** What waits, in turns: the next is of the caller whose work took the least time so far. */
export class Turns<Item> {
  size = 0;
  private readonly waiting = new Map<string, { items: Item[]; usedMs: number }>();
  /** Of those that are not waiting, if it is more than what the next turn begins with. */
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
    // Nobody saves up turns by not working.
    const usedMs = Math.max(this.used.get(caller) ?? 0, this.nowMs);
    this.used.delete(caller);
    this.waiting.set(caller, { items: [item], usedMs });
  }

  /** Removes it; undefined: nothing waits, but of the callers that `isPassed` names. */
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

  /** After its turn. */
  charge(caller: string, ms: number): void {
    const waiting = this.waiting.get(caller);
    if (waiting !== undefined) waiting.usedMs += ms;
    else this.used.set(caller, (this.used.get(caller) ?? this.nowMs) + ms);
    for (const [other, usedMs] of this.used) if (usedMs <= this.nowMs) this.used.delete(other);
  }

  /** All that waits, in no order; nothing does any more. */
  clear(): Item[] {
    const items = [...this.waiting.values()].flatMap((one) => one.items);
    this.waiting.clear();
    this.size = 0;
    return items;
  }
}

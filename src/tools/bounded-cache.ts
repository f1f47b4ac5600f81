/** Values that hold until a time, at most `capacity` of them; the oldest makes room. Times as `performance.now()`. */
export class BoundedCache<Value> {
  private readonly entries = new Map<string, { value: Value; until: number }>();
  /** Goes on from where it is: an iterator that begins anew steps over all that was removed before the oldest. */
  private readonly oldest = this.entries.keys();

  constructor(private readonly capacity: number) {}

  get(key: string, now: number): Value | undefined {
    const entry = this.entries.get(key);
    if (entry !== undefined && entry.until > now) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, until: number): void {
    this.entries.delete(key);
    if (this.entries.size >= this.capacity) this.entries.delete(this.oldest.next().value!);
    this.entries.set(key, { value, until });
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  /** Looks at all of them. */
  forget(isOver: (value: Value) => boolean): void {
    for (const [key, { value }] of this.entries) if (isOver(value)) this.entries.delete(key);
  }
}

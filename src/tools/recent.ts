/** A value that is read again when it is asked for and older than `maxAgeMs`; all who ask meanwhile share one reading. */
export class Recent<Value> {
  private reading: Promise<Value> | undefined;
  private until = -Infinity;

  constructor(
    private readonly maxAgeMs: number,
    private readonly read: () => Promise<Value>,
  ) {}

  get(): Promise<Value> {
    const now = performance.now();
    if (this.reading !== undefined && now < this.until) return this.reading;
    this.until = now + this.maxAgeMs;
    const reading = this.read();
    this.reading = reading;
    // What failed is tried again by the next that asks.
    reading.catch(() => {
      if (this.reading === reading) this.reading = undefined;
    });
    return reading;
  }
}

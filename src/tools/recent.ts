/**
 * A cached value that is read again when it is requested and older than `maxAgeMs`. Concurrent requests share one read.
 */
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
    // After a failed read, the next request reads again.
    reading.catch(() => {
      if (this.reading === reading) this.reading = undefined;
    });
    return reading;
  }
}

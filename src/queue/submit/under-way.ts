/** Writes that have begun and are not over. */
export class UnderWay {
  count = 0;
  private readonly waiting: (() => void)[] = [];

  /** What it returns is called once, when the write is over. */
  begin(): () => void {
    this.count++;
    return () => {
      this.count--;
      this.wake();
    };
  }

  /** Resolves when one of them is over; for one that waits, the first. */
  oneIsOver(): Promise<void> {
    return new Promise((resume) => this.waiting.push(resume));
  }

  /** Who was woken lets the next one look: if it does not begin, or leaves room. */
  wake(): void {
    this.waiting.shift()?.();
  }
}

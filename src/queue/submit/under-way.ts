/** Writes in progress. */
export class UnderWay {
  count = 0;
  private readonly waiting: (() => void)[] = [];

  /** The returned function is called once, when the write is over. */
  begin(): () => void {
    this.count++;
    return () => {
      this.count--;
      this.wake();
    };
  }

  /** Resolves when a write is over. Each write that ends resumes one waiting caller, the first. */
  oneIsOver(): Promise<void> {
    return new Promise((resume) => this.waiting.push(resume));
  }

  /** Resumes the first waiting caller. A resumed caller that begins no write, or leaves room, wakes the next. */
  wake(): void {
    this.waiting.shift()?.();
  }
}

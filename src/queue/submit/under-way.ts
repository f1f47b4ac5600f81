/** Writes that have begun and are not over. */
export class UnderWay {
  count = 0;
  private waiting: (() => void)[] = [];

  /** What it returns is called once, when the write is over. */
  begin(): () => void {
    this.count++;
    return () => {
      this.count--;
      const { waiting } = this;
      this.waiting = [];
      for (const resume of waiting) resume();
    };
  }

  /** Resolves when one of them is over. */
  oneIsOver(): Promise<void> {
    return new Promise((resume) => this.waiting.push(resume));
  }
}

/** Lets all runs write at the same moments, so that one commit serves them. */
export class Rhythm {
  private due = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly stepMs: number) {}

  /** Calls `beat` at the next step, once. */
  add(beat: () => void): void {
    this.due.add(beat);
    this.timer ??= setTimeout(() => this.beat(), this.stepMs - (performance.now() % this.stepMs));
  }

  private beat(): void {
    this.timer = undefined;
    const { due } = this;
    this.due = new Set();
    for (const beat of due) beat();
  }
}

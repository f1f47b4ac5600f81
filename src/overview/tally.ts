export const minuteMs = 60_000;
export const dayMs = 86_400_000;

export interface Counts {
  started: number;
  completed: number;
  /** The part of the completed requests that failed. */
  failed: number;
}

const none: Counts = { started: 0, completed: 0, failed: 0 };

/** Counts by model and time. Times are milliseconds since 1970, the beginnings of minutes or of days. */
export class Tally {
  private readonly byTime = new Map<number, Map<string, Counts>>();

  get isEmpty(): boolean {
    return this.byTime.size === 0;
  }

  get(at: number, modelId: string): Counts {
    return this.byTime.get(at)?.get(modelId) ?? none;
  }

  add(at: number, modelId: string, { started = 0, completed = 0, failed = 0 }: Partial<Counts>): void {
    let models = this.byTime.get(at);
    if (models === undefined) this.byTime.set(at, (models = new Map<string, Counts>()));
    const counts = models.get(modelId);
    if (counts === undefined) return void models.set(modelId, { started, completed, failed });
    counts.started += started;
    counts.completed += completed;
    counts.failed += failed;
  }

  set(at: number, modelId: string, counts: Counts): void {
    this.byTime.get(at)?.delete(modelId);
    this.add(at, modelId, counts);
  }

  addAll(other: Tally): void {
    for (const { at, modelId, ...counts } of other.rows()) this.add(at, modelId, counts);
  }

  dropBefore(time: number): void {
    for (const at of this.byTime.keys()) if (at < time) this.byTime.delete(at);
  }

  /** Returns the sums of minutes by day (UTC). */
  toDays(): Tally {
    const days = new Tally();
    for (const { at, modelId, ...counts } of this.rows()) days.add(at - (at % dayMs), modelId, counts);
    return days;
  }

  rows(): (Counts & { at: number; modelId: string })[] {
    return [...this.byTime].flatMap(([at, models]) =>
      [...models].map(([modelId, counts]) => ({ at, modelId, ...counts })),
    );
  }
}

/** What has to be counted before a submission may be written: on its own, or along with one that is written alone. */
export interface Toll {
  /** Counts it with a statement of its own, unless it is counted; throws if there is no room for it. */
  pay(): Promise<void>;
  /** What counts it within another statement. Whoever asks for it does so, and tells what came of it. */
  claim(): TollClaim;
  /** Takes the row of `toll`; throws if there was no room for it. What was not counted is yet to be paid. */
  settle(row: object): void;
}

export interface TollClaim {
  /**
   * CTEs for a statement whose parameters from `first` on are theirs. The last is `toll`, one row, with `granted`.
   * Always the same function: the statement is prepared once.
   */
  ctes: (first: number) => string;
  values: unknown[];
}

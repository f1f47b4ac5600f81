/** What has to be counted before a submission may be written: on its own, or along with one that is written alone. */
export interface Toll {
  /** Counts it with a statement of its own; throws if there is no room for it. */
  pay(): Promise<void>;
  /** What a statement needs to count it along. Whoever asks for it does so, and tells what came of it. */
  claim(): TollClaim;
  /** Throws if there was no room for it, and so nothing was written. False: it was not counted, and is yet to be paid. */
  settle(answer: TollAnswer): boolean;
}

/** The arguments of `rate_admit_alone`. */
export interface TollClaim {
  subject: string;
  routeClass: string;
  windowsMs: number[];
  limits: number[];
}

export interface TollAnswer {
  /** null: somebody else was counting for the same caller. */
  granted: number | null;
  /** Per window, after what was granted. */
  remaining: number[];
  /** Per window, until its oldest admission leaves it. */
  reset_ms: number[];
}

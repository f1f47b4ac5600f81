/** At most `limit` requests in any `windowMs`. */
export interface RateWindow {
  name: string;
  limit: number;
  windowMs: number;
}

/** All windows hold at once; an empty list is no limit. */
export type RateLimits = readonly RateWindow[];

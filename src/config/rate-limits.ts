/** At most `limit` requests in any `windowMs`. */
export interface RateWindow {
  name: string;
  limit: number;
  windowMs: number;
}

/** All windows hold at once; an empty list is no limit. */
export type RateLimits = readonly RateWindow[];

const texts = new WeakMap<RateLimits, string>();

/** As they are set: `10/s,100/m`, the tightest window first. */
export function policyText(limits: RateLimits): string {
  let text = texts.get(limits);
  if (text === undefined) {
    const windows = [...limits].sort((one, other) => one.windowMs - other.windowMs);
    text = windows.map(({ limit, name }) => `${limit}/${name[0]}`).join();
    texts.set(limits, text);
  }
  return text;
}

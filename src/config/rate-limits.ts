/** At most `limit` requests in any `windowMs`. */
export interface RateWindow {
  name: string;
  limit: number;
  windowMs: number;
}

/** All windows apply. An empty list means no limit. */
export type RateLimits = readonly RateWindow[];

const texts = new WeakMap<RateLimits, string>();

/** Returns the limits in the form of the setting: `10/s,100/m`, the tightest window first. */
export function policyText(limits: RateLimits): string {
  let text = texts.get(limits);
  if (text === undefined) {
    const windows = [...limits].sort((one, other) => one.windowMs - other.windowMs);
    text = windows.map(({ limit, name }) => `${limit}/${name[0]}`).join();
    texts.set(limits, text);
  }
  return text;
}

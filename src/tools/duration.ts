const durationUnits: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A hundred years. Not every calculation can handle later times. */
const maxDays = 36_500;

/** Returns milliseconds from `250ms`, `30s`, `10m`, `1h` or `30d`. A bare number is in seconds. */
export function parseDuration(value: string): number {
  const match = /^(\d{1,15}(?:\.\d{1,20})?)\s*(ms|s|m|h|d)?$/.exec(value);
  if (match === null) throw new Error('expected a duration such as 250ms, 30s, 10m, 1h or 30d');
  const ms = Math.round(Number(match[1]) * durationUnits[match[2] ?? 's']!);
  if (ms > maxDays * durationUnits['d']!) throw new Error(`expected a duration of at most ${maxDays}d`);
  return ms;
}

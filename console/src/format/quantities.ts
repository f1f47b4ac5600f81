/** Separates thousands with thin spaces: 1 204. */
export function whole(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** Returns at most four characters and a letter: 950, 1.2 k, 34 k, 1.0 M. */
export function short(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  const [scaled, unit] = value < 999_500 ? [value / 1_000, 'k'] : [value / 1_000_000, 'M'];
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}\u00a0${unit}`;
}

/** Returns the two largest units: 0.4 s, 41 s, 2 min 10 s, 3 h 5 min, 2 d 4 h. */
export function duration(ms: number): string {
  if (ms < 0) return duration(0);
  if (ms < 1_000) return ms < 100 ? `${Math.round(ms)}\u00a0ms` : `${(ms / 1_000).toFixed(1)}\u00a0s`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)}\u00a0s`;
  const seconds = Math.round(ms / 1_000);
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const;
  const first = units.findIndex(([length]) => seconds >= length);
  let rest = seconds;
  return units
    .slice(first, first + 2)
    .map(([length, unit]) => {
      const count = Math.floor(rest / length);
      rest -= count * length;
      return count === 0 ? '' : `${count}\u00a0${unit}`;
    })
    .filter((part) => part !== '')
    .join(' ');
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value}\u00a0B`;
  for (const [size, unit] of [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ] as const) {
    if (value >= size * 0.9995) {
      const scaled = value / size;
      return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}\u00a0${unit}`;
    }
  }
  return `${value}\u00a0B`;
}

/** Returns a rate per second, or per minute or hour where it is small. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return '0/s';
  if (perSecond >= 0.095) return `${perSecond < 9.95 ? perSecond.toFixed(1) : whole(perSecond)}/s`;
  if (perSecond * 60 >= 0.95) return `${(perSecond * 60).toFixed(0)}/min`;
  return `${Math.max(1, Math.round(perSecond * 3_600))}/h`;
}

export const percent = (share: number): string =>
  `${share > 0 && share < 0.01 ? '<\u00a01' : Math.round(share * 100)}\u00a0%`;

/** Returns words such as "of 4 slots " before a label. null: there is no bound. */
export const ofSlots = (slots: number | null): string =>
  slots === null ? '' : `of ${counted(slots, 'slot')} `;

/** 1 request, 2 requests. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)}\u00a0${count === 1 ? one : many}`;

/** Returns a sentence about the runs in progress when no more are started. */
export function runsGoOn(count: number): string {
  if (count === 0) return 'No request runs now.';
  return count === 1
    ? 'The run in progress continues to its end.'
    : `${counted(count, 'run')} in progress continue to their end.`;
}

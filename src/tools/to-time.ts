export function toTime(ms: number): string;
export function toTime(ms: number | null): string | null;
/** Returns a time in milliseconds since 1970 as the API writes it. null: there is none. */
export function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

import { duration } from './quantities';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayAndYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** Local time, without the date if it is today. */
export function time(at: string | number, now: number = Date.now()): string {
  const date = new Date(at);
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) return clock.format(date);
  const isThisYear = date.getFullYear() === today.getFullYear();
  return `${(isThisYear ? dayOnly : dayAndYear).format(date)}, ${clock.format(date)}`;
}

export const day = (at: string): string => dayAndYear.format(new Date(at));

export const clockTime = (at: string | number): string => clock.format(new Date(at));

/** UTC with milliseconds, for titles and for copying. */
export const utc = (at: string | number): string => new Date(at).toISOString();

export const ago = (at: string | number, now: number): string => {
  const ms = now - new Date(at).getTime();
  return ms < 1_000 ? 'just now' : `${duration(ms)} ago`;
};

/** The format of a local time field, to the minute. */
export const localTime = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

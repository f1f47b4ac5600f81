import { duration } from '../format/quantities';
import { ago, day, time, utc } from '../format/times';
import { useNowText } from './now';

/** Shows local time, with UTC on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={utc(at)}>
      {time(at)}
    </time>
  );
}

/** A short form for narrow places; the time is shown on hover. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${time(at)} · ${utc(at)}`}>
      {day(at)}
    </time>
  );
}

export function Ago({ at }: { at: string | null | undefined }) {
  const said = useNowText((now) => (at ? ago(at, now) : ''));
  if (!at) return <span className="muted">never</span>;
  return (
    <time dateTime={at} title={`${time(at)} · ${utc(at)}`}>
      {said}
    </time>
  );
}

/** Shows how long something took; exact on hover. */
export function Took({ ms }: { ms: number | null | undefined }) {
  if (typeof ms !== 'number') return null;
  return <span title={`${(ms / 1_000).toFixed(3)} s`}>{duration(ms)}</span>;
}

/** Shows the time that has passed since. */
export function Since({ at }: { at: string }) {
  const said = useNowText((now) => duration(now - new Date(at).getTime()));
  return (
    <time dateTime={at} title={`since ${time(at)} · ${utc(at)}`}>
      {said}
    </time>
  );
}

import type { AdminRequest } from '../api/types';

/** How far a run is, as it says itself. */
export function ProgressBar({ value, message }: NonNullable<AdminRequest['progress']>) {
  const percent = `${Math.floor(value * 100)} %`;
  return (
    <div className="progress">
      <progress max={1} value={value} aria-label="Progress" />
      <b>{percent}</b>
      {message !== null && <span className="muted">{message}</span>}
    </div>
  );
}

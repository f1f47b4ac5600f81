import type { AdminRequest } from '../api/types';

/** Shows the progress that a run reports. */
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

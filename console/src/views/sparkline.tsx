import type { MinuteCounts } from '../api/types';
import { whole } from '../format/quantities';

const [width, height, minutes] = [180, 36, 60];

/** Shows the completions of each minute of the last hour, with failures in red on top. */
export function Sparkline({ history }: { history: readonly MinuteCounts[] }) {
  const counts = history.slice(-minutes);
  const highest = Math.max(1, ...counts.map(({ completed, failed }) => completed + failed));
  const step = width / minutes;
  const sum = (name: 'completed' | 'failed'): number =>
    counts.reduce((total, count) => total + count[name], 0);
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`In the last hour ${whole(sum('completed'))} completed and ${whole(sum('failed'))} failed.`}
    >
      <rect x="0" y={height - 1} width={width} height="1" />
      {counts.map(({ minute, completed, failed }, i) => {
        const x = (minutes - counts.length + i) * step;
        const bad = (failed / highest) * height;
        const good = (completed / highest) * height;
        return (
          <g key={minute}>
            <rect x={x} y={height - good} width={step - 0.6} height={good} />
            {failed > 0 && (
              <rect
                className="failed"
                x={x}
                y={height - good - Math.max(bad, 1.5)}
                width={step - 0.6}
                height={Math.max(bad, 1.5)}
              />
            )}
          </g>
        );
      })}
    </svg>
  );
}

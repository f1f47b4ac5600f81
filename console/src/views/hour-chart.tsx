import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import type { MinuteCounts } from '../api/types';
import { Table } from '../parts/table';
import { clockTime } from '../format/times';

/** Returns a colour of the style sheet in the current theme. A canvas does not resolve custom properties. */
const colour = (element: Element, name: string): string => {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

export default function HourChart({ history }: { history: readonly MinuteCounts[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(undefined);
  const data: UPlot.AlignedData = [
    history.map(({ minute }) => new Date(minute).getTime() / 1_000),
    history.map(({ started }) => started),
    history.map(({ completed }) => completed),
    history.map(({ failed }) => failed),
  ];
  const latest = useRef(data);
  const counts = useRef(history);
  useEffect(() => {
    latest.current = data;
    counts.current = history;
    chart.current?.setData(data);
  });
  useEffect(() => {
    const element = frame.current!;
    const draw = (): void => {
      chart.current?.destroy();
      const [muted, line] = [colour(element, '--muted'), colour(element, '--line')];
      // Returns the value of the minute under the pointer, or the sum of all minutes.
      const shownOrAll =
        (field: 'started' | 'completed' | 'failed') =>
        (_: UPlot, shown: number | null): number =>
          shown ?? counts.current.reduce((all, one) => all + one[field], 0);
      const axis = {
        stroke: muted,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
      };
      chart.current = new UPlot(
        {
          width: element.clientWidth,
          height: 180,
          padding: [8, 20, 0, 0],
          cursor: { y: false },
          scales: { y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
          axes: [
            { ...axis, values: (_, splits) => splits.map((at) => clockTime(at * 1_000).slice(0, 5)) },
            { ...axis, size: 44 },
          ],
          series: [
            { value: (_, at) => (at === null ? 'all' : clockTime(at * 1_000)), label: 'Minute' },
            {
              label: 'started',
              value: shownOrAll('started'),
              stroke: colour(element, '--accent'),
              width: 2,
              points: { show: false },
            },
            {
              label: 'completed',
              value: shownOrAll('completed'),
              stroke: colour(element, '--waiting'),
              width: 2,
              points: { show: false },
            },
            {
              label: 'failed',
              value: shownOrAll('failed'),
              stroke: colour(element, '--failed'),
              fill: colour(element, '--failed-fill'),
              width: 1,
              points: { show: false },
            },
          ],
        },
        latest.current,
        element,
      );
    };
    draw();
    const resized = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: 180 }),
    );
    resized.observe(element);
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', draw);
    const chosen = new MutationObserver(draw);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      chosen.disconnect();
      theme.removeEventListener('change', draw);
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, []);
  return (
    <>
      <div ref={frame} className="chart" aria-hidden="true" />
      <details>
        <summary>Show as table</summary>
        <Table
          label="Last hour by minute"
          rows={history
            .filter(({ started, completed, failed }) => started + completed + failed > 0)
            .reverse()}
          rowKey={({ minute }) => minute}
          empty="No requests in the last hour."
          columns={[
            { title: 'Minute', cell: ({ minute }) => clockTime(minute).slice(0, 5) },
            { title: 'Started', className: 'number', cell: ({ started }) => started },
            { title: 'Completed', className: 'number', cell: ({ completed }) => completed },
            { title: 'Failed', className: 'number', cell: ({ failed }) => failed },
          ]}
        />
      </details>
    </>
  );
}

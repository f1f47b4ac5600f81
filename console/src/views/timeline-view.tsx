import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { RequestHistory } from '../api/types';
import { duration, whole } from '../format/quantities';
import { clockTime, time, utc } from '../format/times';
import { useNow } from '../parts/now';
import { Table } from '../parts/table';
import { layTimeline, type Span, spansOf, ticksOf, timeAt, type Timeline, xOf } from '../request/timeline';

/** Width of a time label and its margin, in pixels. */
const tickWidth = 84;
const words: Record<Span['kind'], string> = {
  wait: 'waited',
  run: 'ran',
  rescue: 'lost until rescued',
  backoff: 'waited after a failure',
};
const [curveHeight, laneHeight, barHeight, axisHeight] = [64, 40, 20, 28];

/** Shows a request's history as a picture and as a table. */
export function TimelineView({ history, isOver }: { history: RequestHistory; isOver: boolean }) {
  const clock = useNow();
  const events = history.data;
  const now = isOver ? new Date(events.at(-1)?.at ?? clock).getTime() : clock;
  const timeline = layTimeline(history, now);
  if (timeline.stretches.length === 0) return <p className="empty">No events yet.</p>;
  return (
    <div className="stack">
      <Picture timeline={timeline} />
      <details>
        <summary>Show as table</summary>
        <Table
          label="Phases of the request"
          rows={spansOf(events, now)}
          rowKey={({ from, kind }) => `${from} ${kind}`}
          columns={[
            {
              title: 'Start',
              className: 'tight',
              cell: ({ from }) => <time title={utc(from)}>{time(from)}</time>,
            },
            { title: 'Duration', className: 'tight', cell: ({ from, to }) => duration(to - from) },
            { title: 'Node', className: 'tight', cell: ({ lane }) => lane },
            { title: 'Phase', cell: (span) => said(span) },
          ]}
        />
      </details>
    </div>
  );
}

const said = ({ kind, end, note, attempt }: Span): string => {
  const what = kind === 'run' ? `ran (start ${attempt})` : words[kind];
  const so = end === 'open' ? ', until now' : end === 'goes-on' ? '' : `: ${end}`;
  return `${what}${so}${note === '' ? '' : `, ${note}`}`;
};

function Picture({ timeline }: { timeline: Timeline }) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<number>();
  const readout = useId();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  const { lanes, stretches, steps, highest } = timeline;
  const left = width < 560 ? 72 : 132;
  const right = 12;
  const inner = Math.max(10, width - left - right);
  const ticks = ticksOf(stretches, tickWidth / inner);
  const top = steps.length > 1 ? curveHeight : 4;
  const bottom = top + lanes.length * laneHeight;
  const toX = (x: number): number => left + x * inner;
  const bounds = [...stretches.map(({ from }) => from), stretches.at(-1)!.to];
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = pointed === undefined ? -1 : bounds.findLastIndex((bound) => bound <= pointed + 0.5);
    setPointed(bounds[Math.min(bounds.length - 1, Math.max(0, at + by))]);
  };
  const all = lanes.flatMap(({ spans }) => spans);
  const current =
    pointed === undefined ? undefined : all.find(({ from, to }) => pointed >= from && pointed < to);
  return (
    <div className="timeline" ref={frame}>
      {/* The arrow keys move from one event to the next. */}
      <svg
        height={bottom + axisHeight}
        role="img"
        tabIndex={0}
        aria-label="Timeline. The arrow keys move along it. A table with the same data follows."
        aria-describedby={readout}
        onKeyDown={onKey}
        onPointerMove={(event) => {
          const { left: edge } = event.currentTarget.getBoundingClientRect();
          const x = (event.clientX - edge - left) / inner;
          setPointed(x < 0 || x > 1 ? undefined : timeAt(stretches, x));
        }}
        onPointerLeave={() => setPointed(undefined)}
        onBlur={() => setPointed(undefined)}
      >
        {ticks.map(({ at, x }, i) => {
          const isLast = i === ticks.length - 1;
          return (
            <g key={at}>
              <line className="guide" x1={toX(x)} x2={toX(x)} y1={top} y2={bottom + 4} />
              {(!isLast || ticks.length > 1) && (
                <text x={toX(x)} y={bottom + 20} textAnchor={isLast ? 'end' : i === 0 ? 'start' : 'middle'}>
                  {clockTime(at)}
                </text>
              )}
            </g>
          );
        })}
        {steps.length > 1 && (
          <>
            <text x="0" y="16">
              position
            </text>
            <text x={left - 8} y={left < 100 ? 32 : 16} textAnchor="end">
              {whole(highest)}
            </text>
            <path className="steps" d={stepPath(steps, toX)} />
          </>
        )}
        {lanes.map(({ name, spans }, row) => {
          const y = top + row * laneHeight + (laneHeight - barHeight) / 2;
          return (
            <g key={name}>
              <text className="lane" x="0" y={y + 14}>
                {name.length > (left - 16) / 7 ? `${name.slice(0, Math.floor((left - 24) / 7))}…` : name}
              </text>
              {spans.map((span) => (
                <Bar
                  key={`${span.kind}${span.from}`}
                  span={span}
                  x={toX(span.x)}
                  width={span.width * inner}
                  y={y}
                />
              ))}
            </g>
          );
        })}
        {stretches
          .filter(({ isFolded }) => isFolded)
          .map(({ x, width: part, from, to }) => (
            <g key={from}>
              <rect
                className="fold"
                x={toX(x) + 4}
                width={Math.max(0, part * inner - 8)}
                y={top}
                height={bottom - top}
                rx="4"
              />
              <text x={toX(x + part / 2)} y={(top + bottom) / 2 + 4} textAnchor="middle">
                {part * inner > 60 ? `⋯ ${duration(to - from)} ⋯` : '⋯'}
              </text>
            </g>
          ))}
        {pointed !== undefined && (
          <line
            className="pointer"
            x1={toX(xOf(stretches, pointed))}
            x2={toX(xOf(stretches, pointed))}
            y1="0"
            y2={bottom + 4}
          />
        )}
      </svg>
      <p className="small muted" id={readout}>
        <span aria-live="polite">
          {pointed === undefined ? (
            <>&nbsp;</>
          ) : (
            `${time(pointed)}.${String(Math.floor(pointed) % 1_000).padStart(3, '0')} (${utc(pointed)})${
              current === undefined ? '' : ` · ${current.lane}: ${said(current)}`
            }`
          )}
        </span>
        {/* A screen reader would read the time of a run that continues every second. */}
        {current !== undefined && ` (${duration(current.to - current.from)})`}
      </p>
    </div>
  );
}

/** Light: waiting. Solid: running. Torn: lost. Dotted: backoff. */
function Bar({ span, x, width, y }: { span: Span; x: number; width: number; y: number }) {
  const { kind, end } = span;
  const middle = y + barHeight / 2;
  if (kind === 'backoff' || kind === 'rescue') {
    return (
      <line className={`line ${kind}`} x1={x + 3} x2={x + Math.max(3, width - 3)} y1={middle} y2={middle} />
    );
  }
  if (kind === 'wait') {
    return (
      <rect className="wait" x={x} width={Math.max(2, width)} y={y + 5} height={barHeight - 10} rx="2" />
    );
  }
  const to = x + Math.max(6, width);
  const torn = [0, 1, 2, 3, 4]
    .map((i) => `L${to - (i % 2 === 0 ? 0 : 6)} ${y + (barHeight * i) / 4}`)
    .join('');
  const isBad = end === 'failed' || end === 'lost';
  return (
    <g className={`run ${end}`}>
      {end === 'lost' ? (
        <path d={`M${x} ${y}${torn}L${x} ${y + barHeight}Z`} />
      ) : (
        <rect x={x} width={to - x} y={y} height={barHeight} rx="3" />
      )}
      {to - x > 24 && isBad && <path className="mark" d={`M${to - 18} ${middle - 4}l8 8m0 -8l-8 8`} />}
      {to - x <= 24 && isBad && (
        <path className="mark above" d={`M${(x + to) / 2 - 3} ${y - 8}l6 6m0 -6l-6 6`} />
      )}
      {to - x > 24 && end === 'succeeded' && <path className="mark" d={`M${to - 19} ${middle}l4 4l7 -8`} />}
    </g>
  );
}

function stepPath(steps: Timeline['steps'], toX: (x: number) => number): string {
  const y = (part: number): number => curveHeight - 10 - part * (curveHeight - 22);
  return steps
    .map((step, i) => (i === 0 ? `M${toX(step.x)} ${y(step.y)}` : `H${toX(step.x)}V${y(step.y)}`))
    .join('');
}

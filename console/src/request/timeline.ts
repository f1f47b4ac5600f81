import type { RequestEvent, RequestHistory } from '../api/types';

export type SpanKind = 'wait' | 'run' | 'rescue' | 'backoff';
/** How a span ends. `lost`: its node was lost, and the span is drawn torn. */
export type SpanEnd =
  'open' | 'goes-on' | 'succeeded' | 'failed' | 'cancelled' | 'expired' | 'lost' | 'returned';

export interface Span {
  lane: string;
  kind: SpanKind;
  from: number;
  to: number;
  end: SpanEnd;
  attempt: number;
  /** The code and message of the event that ended the span. */
  note: string;
}

/** The lane for times when no node runs the request. */
const queueLane = 'queue';

const ms = (at: string): number => new Date(at).getTime();

/** Returns a request's history as consecutive spans without gaps, each on one node. */
export function spansOf(events: readonly RequestEvent[], now: number): Span[] {
  const spans: Span[] = [];
  let since: number | undefined;
  let run: RequestEvent | undefined;
  let attempt = 0;
  /** When the backoff after the last run ends. */
  let backoffUntil: number | undefined;
  const add = (kind: SpanKind, from: number, to: number, end: SpanEnd, lane: string, note = ''): void => {
    if (to > from || kind === 'run')
      spans.push({ lane, kind, from, to: Math.max(from, to), end, attempt, note });
  };
  /** Moves the spans that waited for a run into its lane. */
  const place = (node: string | null): void => {
    for (let i = spans.length - 1; i >= 0 && spans[i]!.lane === queueLane; i--)
      spans[i]!.lane = node ?? queueLane;
  };
  for (const event of events) {
    const at = ms(event.at);
    if (event.kind === 'submitted') {
      since = at;
    } else if (event.kind === 'started') {
      if (since !== undefined) closeWait(at, 'goes-on');
      run = event;
      attempt = event.attempt;
      since = at;
      place(event.node);
    } else if (event.kind === 'requeued' || event.kind === 'completed') {
      if (run !== undefined && since !== undefined) {
        const end = endOf(event);
        const lostAt =
          end === 'lost' ? Math.min(at, Math.max(since, event.ended_at ? ms(event.ended_at) : at)) : at;
        add('run', since, lostAt, end, run.node ?? queueLane, noteOf(event));
        if (lostAt < at) add('rescue', lostAt, at, 'goes-on', queueLane);
      } else if (since !== undefined) {
        closeWait(at, endOf(event), noteOf(event));
      }
      run = undefined;
      since = event.kind === 'completed' ? undefined : at;
      if (event.kind === 'requeued') backoffUntil = pauseAfter(event);
    }
  }
  if (since !== undefined) {
    if (run === undefined) closeWait(Math.max(now, since), 'open');
    else add('run', since, Math.max(now, since), 'open', run.node ?? queueLane);
  }
  return spans;

  function closeWait(at: number, end: SpanEnd, note = ''): void {
    const paused = backoffUntil === undefined ? since! : Math.min(at, Math.max(since!, backoffUntil));
    add('backoff', since!, paused, paused === at ? end : 'goes-on', queueLane, paused === at ? note : '');
    if (paused < at) add('wait', paused, at, end, queueLane, note);
    backoffUntil = undefined;
  }
}

/** Old events do not have the end of the pause. It is assumed to last until the next start. */
function pauseAfter({ outcome, until }: RequestEvent): number | undefined {
  if (until) return ms(until);
  return outcome === 'failed' || outcome === 'timed_out' || outcome === 'unreached' ? Infinity : undefined;
}

function endOf({ kind, outcome }: RequestEvent): SpanEnd {
  switch (outcome) {
    case 'succeeded':
    case 'cancelled':
    case 'expired':
    case 'lost':
    case 'returned':
      return outcome;
    case null:
      return kind === 'completed' ? 'failed' : 'goes-on';
    default:
      return 'failed';
  }
}

function noteOf({ code, message }: RequestEvent): string {
  return [code, message].filter((part) => part !== null && part !== '').join(': ');
}

export interface Stretch {
  from: number;
  to: number;
  /** The position as a fraction of the whole width, from 0 to 1. */
  x: number;
  width: number;
  isFolded: boolean;
}

export interface Timeline {
  lanes: { name: string; spans: (Span & { x: number; width: number })[] }[];
  stretches: Stretch[];
  /** Changes of the position, from the front (y 0) to the highest (y 1). */
  steps: { x: number; y: number; position: number; at: number }[];
  highest: number;
}

/** Fractions of the width: for a folded time, and for the shortest time. */
const foldedWidth = 0.12;
const minWidth = 0.012;

/** Lays out a request's history on a line. Long idle times are folded, so that events stay visible. */
export function layTimeline(history: RequestHistory, now: number): Timeline {
  const spans = spansOf(history.data, now);
  const stretches = stretchesOf(spans);
  const names = [...new Set(spans.map(({ lane }) => lane))];
  const placed = spans.map((span) => {
    const x = xOf(stretches, span.from);
    return { ...span, x, width: xOf(stretches, span.to) - x };
  });
  const positions = positionsOf(history);
  const highest = Math.max(0, ...positions.map(({ position }) => position));
  return {
    lanes: names.map((name) => ({ name, spans: placed.filter(({ lane }) => lane === name) })),
    stretches,
    steps: positions.map(({ at, position }) => ({
      at,
      position,
      x: xOf(stretches, at),
      y: highest === 0 ? 0 : position / highest,
    })),
    highest,
  };
}

/** Returns the positions until the first start. After a requeue, the stored positions lead to the last start. */
function positionsOf({ data, positions }: RequestHistory): { at: number; position: number }[] {
  const started = data.find(({ kind }) => kind === 'started');
  const points = positions.map(({ at, position }) => ({ at: ms(at), position }));
  if (started === undefined) return points;
  const before = points.filter(({ at }) => at <= ms(started.at));
  const last = before.at(-1)?.position ?? 0;
  return before.map(({ at, position }) => ({ at, position: Math.max(0, position - last) }));
}

function stretchesOf(spans: readonly Span[]): Stretch[] {
  const bounds = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const pieces = bounds.slice(1).map((to, i) => {
    const from = bounds[i]!;
    const isBusy = spans.some((span) => span.kind === 'run' && span.from <= from && span.to >= to);
    return { from, to, isBusy };
  });
  const sum = (some: readonly { from: number; to: number }[]): number =>
    some.reduce((total, { from, to }) => total + to - from, 0);
  const busy = sum(pieces.filter(({ isBusy }) => isBusy));
  // If nothing ran, the waiting times are not folded.
  const limit = busy === 0 ? Infinity : Math.max(30_000, 2 * busy);
  const isFolded = ({ from, to, isBusy }: (typeof pieces)[number]): boolean => !isBusy && to - from > limit;
  const open = pieces.filter((piece) => !isFolded(piece));
  const room = 1 - foldedWidth * (pieces.length - open.length);
  const scale = room / Math.max(1, sum(open));
  const widths = pieces.map((piece) =>
    isFolded(piece) ? foldedWidth : Math.max(minWidth, (piece.to - piece.from) * scale),
  );
  const total = widths.reduce((a, b) => a + b, 0);
  let x = 0;
  return pieces.map((piece, i) => {
    const stretch = {
      from: piece.from,
      to: piece.to,
      x,
      width: widths[i]! / total,
      isFolded: isFolded(piece),
    };
    x += stretch.width;
    return stretch;
  });
}

export function xOf(stretches: readonly Stretch[], at: number): number {
  const stretch = stretches.find(({ to }) => at <= to);
  if (stretch === undefined) return stretches.length === 0 ? 0 : 1;
  return stretch.x + (stretch.width * Math.max(0, at - stretch.from)) / (stretch.to - stretch.from);
}

export function timeAt(stretches: readonly Stretch[], x: number): number | undefined {
  const stretch = stretches.find((one) => x <= one.x + one.width) ?? stretches.at(-1);
  if (stretch === undefined) return undefined;
  return stretch.from + ((stretch.to - stretch.from) * Math.max(0, x - stretch.x)) / stretch.width;
}

/**
 * Returns the times at which something began or ended, at least `gap` of the width apart. Both ends are always
 * included.
 */
export function ticksOf(stretches: readonly Stretch[], gap: number): { at: number; x: number }[] {
  const all = stretches.map(({ from, x }) => ({ at: from, x }));
  const last = stretches.at(-1);
  if (last === undefined) return [];
  const ticks: { at: number; x: number }[] = [];
  for (const tick of all) {
    const isFirst = ticks.length === 0;
    if (isFirst || (tick.x - ticks.at(-1)!.x >= gap && 1 - tick.x >= gap)) ticks.push(tick);
  }
  return [...ticks, { at: last.to, x: 1 }];
}
